"""Integer expressions: their language, how they are drawn, and what each is worth."""

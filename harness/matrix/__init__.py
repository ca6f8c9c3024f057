"""Cases of the corpus, declared failures and claims by TVM release."""

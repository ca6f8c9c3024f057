"""Pages that commands write: of one campaign, of many nights."""

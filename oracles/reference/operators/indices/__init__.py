"""The reference's operators that compute with places."""

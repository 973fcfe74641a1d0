"""The HTTP server beneath the API and push: strict, and one read and one write per request."""

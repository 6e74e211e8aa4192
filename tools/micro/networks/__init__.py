"""The three Cosmos3 networks in PyTorch, with the names and shapes of the published layout."""

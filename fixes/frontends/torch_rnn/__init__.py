"""The export and import of PyTorch's LSTM, GRU and RNN."""

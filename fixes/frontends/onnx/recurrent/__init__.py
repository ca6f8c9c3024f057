"""The importer of ONNX's LSTM, GRU and RNN."""

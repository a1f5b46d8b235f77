"""Paper 001 (Khan, Ksantini, Ahmad and Guan): the covariance-guided one-class SVM, run again."""

"""Paper 003 (Maratea and Petrosino): asymmetric kernel scaling, run again."""

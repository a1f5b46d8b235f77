"""Newton steps: interior point, active set, smoothed dual."""

"""MomentSVC on a stream: batches as they come, put down in a file and taken up again."""

from __future__ import annotations

from typing import Any, Self

from askew.estimators.moment_checkpoint import ResumesStreams
from askew.estimators.moment_rows import pool_for, read_labelled
from askew.estimators.sklearn_private import check_parameters
from askew.exceptions import ParameterError
from askew.methods.moment_evidence import Stream
from askew.tables import read_classes


class FitsStreams(ResumesStreams):
    """A mixin: ``partial_fit``. The estimator offers ``_model`` and ``_fit_evidence``."""

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Take in a batch: its positives are kept, its negatives are added to the moments and let go.

        After any sequence of batches the model equals a ``fit`` on all of them (with ``forgetting=1``; "factor" on more
        than 1024 features keeps a sketch and is close to it). The first call starts a new stream, also after ``fit``,
        whose rows are gone.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like of shape (n_classes,)
            All classes that will ever come; required at the first call, unless an earlier ``fit`` knew them.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
            Ready to score once every class that is modelled by points has been seen.
        """
        is_first = not hasattr(self, "_stream")
        check_parameters(self)
        X, y, weight = read_labelled(self, X, y, sample_weight, is_first)
        known = getattr(self, "classes_", None) if is_first else self._stream_classes
        targets = read_classes(y, classes if is_first and classes is not None else known, self._stream_label(classes))
        if is_first:
            positive = targets.positive if targets.is_single else None
            self._stream = Stream(self._model(), len(targets.classes), positive, self.forgetting)
            self._stream_classes = targets.classes
        with pool_for(X):
            self._stream.add(X, targets.codes, weight)
            return self._fit_evidence(self._stream.evidence(), targets) if self._stream.is_ready else self

    def _stream_label(self, classes: Any) -> Any:
        """The positive class as far as it is known: of the parameter, of the stream so far, or of the fit before it."""
        if self.pos_label is not None:
            return self.pos_label
        if hasattr(self, "_stream"):
            positive = self._stream.positive
            return None if positive is None else self._stream_classes[positive]
        return None if classes is not None else getattr(self, "pos_label_", None)

    def _resume(self, stream: Stream, classes: Any, names: Any) -> Self:
        named = classes[stream.positive] if self.pos_label is None and stream.positive is not None else self.pos_label
        targets = read_classes((), classes, named)
        if stream.positive != (targets.positive if targets.is_single else None):
            raise ParameterError(f"The stream was begun with another pos_label than {self.pos_label!r}.")
        self._stream, self._stream_classes = stream, classes
        self.n_features_in_ = next(moments for moments in stream.moments if moments is not None).n_features
        self.__dict__.pop("feature_names_in_", None)
        if names is not None:
            self.feature_names_in_ = names
        return self._fit_evidence(stream.evidence(), targets) if stream.is_ready else self

"""Signs of life during a fit, through scikit-learn's callbacks where its version has them.

``SVC().set_callbacks(sklearn.callback.ProgressBar())`` shows a bar while the solver works; every working set the solver
finishes is one task. With a scikit-learn that has no callbacks, estimators simply have no ``set_callbacks``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in where scikit-learn has no callbacks."""

    def with_callbacks(method: Any) -> Any:
        """Stands in where scikit-learn has no callbacks."""
        return method


class ReportsProgress(CallbackSupportMixin):
    """Base of estimators whose ``fit`` tells callbacks about every round of the solver."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "fit" in vars(cls):  # callbacks are torn down whether the fit succeeds or fails
            cls.fit = with_callbacks(vars(cls)["fit"])

    def _round_listener(self) -> Callable[[], bool] | None:
        """What the solver calls after each round, and what asks it to stop; None when nobody listens."""
        if not getattr(self, "_skl_callbacks", None):
            return None
        context = getattr(self, "_callback_fit_ctx", None)
        if context is None:
            context = self._init_callback_context(max_subtasks=None)
            context.call_on_fit_task_begin(estimator=self)

        def listen() -> bool:
            task = context.subcontext(task_name="working set")
            task.call_on_fit_task_begin(estimator=self)
            return bool(task.call_on_fit_task_end(estimator=self))

        return listen

    def _end_listening(self) -> None:
        context = getattr(self, "_callback_fit_ctx", None)
        if context is not None:
            context.call_on_fit_task_end(estimator=self)

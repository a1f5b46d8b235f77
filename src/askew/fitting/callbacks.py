"""Signs of life during a fit, through scikit-learn's callbacks where its version has them.

``SVC().set_callbacks(sklearn.callback.ProgressBar())`` shows a bar while the solver works; every working set the solver
finishes is one task, and so is the compilation that the first fit on a machine begins with. With a scikit-learn that
has no callbacks, estimators simply have no ``set_callbacks``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any, TypeVar, cast

from askew.compiled import when_compiling

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in where scikit-learn has no callbacks."""

    def with_callbacks(method: Any) -> Any:
        """Stands in where scikit-learn has no callbacks."""
        return method


Fit = TypeVar("Fit", bound=Callable[..., Any])


class ReportsProgress(CallbackSupportMixin):
    """Base of estimators whose ``fit`` tells callbacks about every round of the solver."""

    def _round_listener(self) -> Callable[[], bool] | None:
        """What the solver calls after each round, and what asks it to stop; None when nobody listens."""
        return partial(self._tell, "working set") if hasattr(self, "_callback_fit_ctx") else None

    def _tell(self, name: str) -> bool:
        """Tell callbacks of one task that is done; returns whether one of them asks the fit to end."""
        task = self._callback_fit_ctx.subcontext(task_name=name)
        task.call_on_fit_task_begin(estimator=self)
        return bool(task.call_on_fit_task_end(estimator=self))

    def _end_listening(self) -> None:
        context = getattr(self, "_callback_fit_ctx", None)
        if context is not None:
            context.call_on_fit_task_end(estimator=self)


def telling_callbacks(fit: Fit) -> Fit:
    """A ``fit`` whose callbacks are set up before and torn down after, and are told, once, when it has to compile."""

    @with_callbacks  # torn down whether the fit succeeds or fails
    def telling_fit(self: Any, *args: Any, **options: Any) -> Any:
        # opened here, on the estimator itself: the fit works on a copy of it, and what is torn down after is this
        self._init_callback_context(max_subtasks=None).call_on_fit_task_begin(estimator=self)
        with when_compiling(lambda: self._tell("compilation")):
            return fit(self, *args, **options)

    @wraps(fit)
    def fit_with_callbacks(self: Any, *args: Any, **options: Any) -> Any:
        has_callbacks = bool(getattr(self, "_skl_callbacks", None))
        return (telling_fit if has_callbacks else fit)(self, *args, **options)

    return cast(Fit, fit_with_callbacks)

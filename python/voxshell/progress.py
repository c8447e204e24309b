"""A progress bar for `progress=True`: HTML in a notebook, a line on standard error in a terminal, nothing elsewhere."""
import sys
import threading
import time

_INTERVAL = 0.1
_WIDTH = 40


def _display():
    """Returns IPython's display function in a notebook, or None."""
    try:
        from IPython import get_ipython
        from IPython.display import display
    except ImportError:
        return None
    shell = get_ipython()
    return display if shell is not None and hasattr(shell, "kernel") else None


class Bar:
    """Shows stage and fraction. The threads of the library call it."""

    def __init__(self):
        self._lock = threading.Lock()
        self._last = 0.0
        self._display = _display()
        self._handle = None

    def __call__(self, stage, fraction):
        with self._lock:
            now = time.monotonic()
            # The end of a stage may be the last call.
            if now - self._last < _INTERVAL and fraction < 1:
                return
            self._last = now
            if self._display is not None:
                self._show_html(stage, fraction)
            elif sys.stderr is not None and sys.stderr.isatty():
                bar = "█" * round(_WIDTH * fraction)
                sys.stderr.write(f"\r{bar:{_WIDTH}} {100 * fraction:3.0f}% {stage:20}" + ("\n" if fraction >= 1 else ""))
                sys.stderr.flush()

    def _show_html(self, stage, fraction):
        from IPython.display import HTML

        html = HTML(f'<progress value="{fraction:.3f}" max="1" style="width: 20em"></progress> {stage} {100 * fraction:.0f} %')
        if self._handle is None:
            self._handle = self._display(html, display_id=True)
        else:
            self._handle.update(html)

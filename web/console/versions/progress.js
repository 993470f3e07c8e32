/** Follows a running build: its status and its log. When it has ended, the page is loaded again. */
export {};

const panel = document.querySelector('[data-progress]');
const state = panel?.querySelector('[data-status]');
const log = panel?.querySelector('.log');
const everyMs = 2000;
// The newest lines.
if (log) log.scrollTop = log.scrollHeight;

async function follow() {
  const answer = await fetch(panel?.getAttribute('data-progress') ?? '', { headers: { accept: 'application/json' } });
  if (answer.ok) {
    const shown = await answer.json();
    if (shown.isOver) return location.reload();
    if (state && state.textContent !== shown.status) state.textContent = shown.status;
    if (log && log.textContent !== shown.log) {
      const isAtEnd = log.scrollTop + log.clientHeight >= log.scrollHeight - 8;
      log.textContent = shown.log;
      if (isAtEnd) log.scrollTop = log.scrollHeight;
    }
  }
  setTimeout(next, everyMs);
}

// A request that fails is repeated: the service may be restarting.
const next = () => follow().catch(() => setTimeout(next, everyMs));
if (panel) setTimeout(next, everyMs);

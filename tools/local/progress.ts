/** Shows the steps of a start: one line per completed step, and on a terminal a status line for the running ones. */
import type { Progress } from './context.ts';

type Output = NodeJS.WritableStream & { isTTY?: boolean; columns?: number };

export type TerminalProgress = Progress & {
  line(text: string): void;
  /** Removes the status line. */
  close(): void;
};

export function showProgress(output: Output = process.stdout): TerminalProgress {
  const active = new Map<string, { since: number; note: string }>();
  const terminal = output.isTTY === true;

  function drawStatus(): void {
    if (!terminal) return;
    const now = [...active].map(([title, { since, note }]) => `${title} ${seconds(since)}${note ? `: ${note}` : ''}`);
    output.write(`\r\x1b[K${now.length > 0 ? `… ${now.join(' · ')}`.slice(0, (output.columns ?? 80) - 1) : ''}`);
  }

  function line(text: string): void {
    output.write(terminal ? `\r\x1b[K${text}\n` : `${text}\n`);
    drawStatus();
  }

  // After the terminal has closed, writing fails, and the processes still have to be stopped in order.
  output.on('error', () => {});
  const timer = setInterval(drawStatus, 200);
  timer.unref();
  return {
    line,
    async step(title, run) {
      const entry = { since: performance.now(), note: '' };
      active.set(title, entry);
      drawStatus();
      try {
        const result = await run((note) => {
          const isNew = note !== entry.note;
          entry.note = note;
          if (!terminal && isNew) line(`… ${title}: ${note}`);
        });
        active.delete(title);
        line(`✓ ${title} (${seconds(entry.since)})`);
        return result;
      } finally {
        active.delete(title);
      }
    },
    close() {
      clearInterval(timer);
      if (terminal) output.write('\r\x1b[K');
    },
  };
}

function seconds(since: number): string {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`;
}

/** The log of a failed build for its reader: the error first, without what every build says. Pure. */

/** The line that the build's program writes before the error. */
const failed = '\nThe build failed.\n';
/** What Astro reports about work that went well: steps with their time, and the list of pages. */
const usual = /^(?:\d\d:\d\d:\d\d (?!\[(?:WARN|ERROR)\])(?!.*\b(?:WARN|ERROR)\b).*|\s*[├└]─ .*|\s*▶ .*)$/u;

/** A log without such an error, for example of a build that was stopped, keeps its order. */
export function errorFirst(log: string): string {
  const at = log.lastIndexOf(failed);
  if (at < 0) return log;
  const error = log.slice(at + failed.length).trim();
  const before = log
    .slice(0, at)
    .split('\n')
    .filter((line) => line.trim() !== '' && !usual.test(line));
  return `${[error, ...(before.length > 0 ? ['', 'Before that:', ...before] : [])].join('\n')}\n`;
}

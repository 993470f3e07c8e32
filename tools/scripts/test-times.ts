/** Where the time of a test run went, as text. */
import type { FileTimes } from './test-reporter.ts';

const slowestMax = 20;

/** The slowest files and the sums of each project, in seconds. Files run in parallel, so the sums exceed the run's own time. */
export function describeTimes(files: readonly FileTimes[]): string {
  const slowest = files.toSorted((one, other) => totalOf(other) - totalOf(one)).slice(0, slowestMax);
  const projects = Map.groupBy(files, ({ project }) => project);
  return [
    `The ${slowest.length} slowest files, in seconds (start and imports + tests and hooks):`,
    ...slowest.map((one) => `${row(one.startMs, one.testMs)}  ${one.file}`),
    'Projects, as totals of their files:',
    ...[...projects].map(
      ([name, own]) => `${row(sum(own, 'startMs'), sum(own, 'testMs'))}  ${name}, ${own.length} files`,
    ),
  ].join('\n');
}

const totalOf = ({ startMs, testMs }: FileTimes) => startMs + testMs;
const sum = (files: FileTimes[], part: 'startMs' | 'testMs') => files.reduce((all, one) => all + one[part], 0);

function row(startMs: number, testMs: number): string {
  const [all, start, test] = [startMs + testMs, startMs, testMs].map((ms) => (ms / 1000).toFixed(1).padStart(7));
  return `${all} = ${start} + ${test}`;
}

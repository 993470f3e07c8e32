/** Schemathesis: it generates requests from our own description and compares each response with it. */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { seedOr } from '#test/campaigns/size.ts';
import { pathOf } from '#test/stack/requirements.ts';

const firstSeed = seedOr(1);
const attemptsMax = 3;

export type Run = {
  url: string;
  folder: string;
  name: string;
  phases: string;
  cases: string;
  config: string;
  token?: string;
};
/** `broken`: what Schemathesis says of itself, where it could not go on. */
type Judged = { failures: unknown[]; broken: string[]; generated: number; said: string };

/**
 * All checks are on. What is well-formed may still be refused for what it means (another's cursor, a name that is taken), and what a
 * deployment has switched off says so with 501 or 503: a 500 is never right.
 */
const checks = `
[checks]
not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", 501, 502, 503]
positive_data_acceptance.expected-statuses = ["2xx", "3xx", 400, 401, 402, 403, 404, 405, 409, 410, 422, 429, 501, 502, 503]
`;

/**
 * Makes requests, and answers what was found: differences between answers and description, and errors on the way. A run that an error of
 * the tool's own ends says nothing of the answers, so it is made again from another seed; throws where no run comes to its end.
 */
export async function generate(run: Run): Promise<Judged> {
  const broken: string[] = [];
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const judged = await attemptRun(run, firstSeed + attempt * 1000);
    if (judged.failures.length > 0 || judged.broken.length === 0) return judged;
    console.warn(`${run.name}: Schemathesis broke off by itself: ${judged.broken}`);
    broken.push(...judged.broken, judged.said);
  }
  throw new Error(
    `Schemathesis itself failed ${attemptsMax} times, which says nothing of the API:\n${broken.join('\n')}`,
  );
}

async function attemptRun({ url, folder, name, phases, cases, config, token }: Run, seed: number): Promise<Judged> {
  const [settings, report] = [join(folder, `${name}.toml`), join(folder, `${name}-${seed}.json`)];
  await writeFile(settings, `${checks}\n${config}`);
  const where = ['--config-file', settings, 'run', `${url}/openapi.json`, '--url', url, '--phases', phases];
  // One thread: CPython before 3.11.8 counts the depth of syntax trees for all threads together (gh-106905) and breaks off.
  const how = [
    '--no-color',
    '--continue-on-failure',
    '--workers',
    '1',
    '--max-examples',
    cases,
    '--seed',
    String(seed),
  ];
  const who = token === undefined ? [] : ['-H', `Authorization: Bearer ${token}`];
  const told = ['-H', 'Prefer: respond-async', '--report', 'json', '--report-json-path', report];
  const options = { cwd: folder, maxBuffer: 64 * 1024 * 1024 };
  const tool = await pathOf('schemathesis');
  const said = await new Promise<string>((resolve) => {
    execFile(tool, [...where, ...how, ...who, ...told], options, (_error, out, err) => resolve(`${out}\n${err}`));
  });
  return { said, ...judgementOf(await readFile(report, 'utf8').catch(() => undefined), name) };
}

type Report = {
  complete: boolean;
  exit_code: number;
  failures: unknown[];
  errors: { title: string; count: number }[];
  test_cases: { generated: number };
};

/** What ends a case for reasons of the tool alone. Any other error (no answer, a description that cannot be read) is one of ours. */
const ofTheTool = ['Runtime Error', 'Hook Error', 'Failed Health Check'];

/** Judges the report of a run; without one, the tool did not come to write it. */
export function judgementOf(written: string | undefined, name = ''): Omit<Judged, 'said'> {
  if (written === undefined) return { failures: [], broken: ['no report'], generated: 0 };
  const { complete, exit_code, failures, errors, test_cases } = JSON.parse(written) as Report;
  const { generated } = test_cases;
  console.info(`${name}: ${generated} generated, ${failures.length} failures, ${errors.length} errors`);
  const own = errors.filter(({ title }) => !ofTheTool.includes(title));
  const broken = errors.filter((error) => !own.includes(error)).map(({ title }) => title);
  if (!complete) broken.push('not complete');
  if (exit_code !== 0 && failures.length + errors.length === 0) broken.push(`exit code ${exit_code}`);
  return { failures: [...failures, ...own], broken, generated };
}

/** Our own name server, through PowerDNS's HTTP API: one write per zone and process at a time, with retries. */
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { errors } from '#runtime/errors.ts';

/**
 * All records of one name and type, in zone-file format: names, also in `contents`, end with a dot; texts are quoted.
 */
export type RecordSet = { name: string; type: string; ttl: number; contents: readonly string[] };

/** The name server rejects the records: its message is for the log alone. */
export class RecordsRefused extends Error {}

export type Zones = {
  /** The record sets of a zone; undefined if it does not exist. `zone` is written without its final dot. */
  read(zone: string): Promise<RecordSet[] | undefined>;
  /** Creates the zone with these record sets, unless it exists. Throws `RecordsRefused`. */
  create(zone: string, sets: readonly RecordSet[]): Promise<void>;
  /** Replaces whole record sets; one without contents is removed. Throws `RecordsRefused`. */
  replace(zone: string, sets: readonly RecordSet[]): Promise<void>;
  remove(zone: string): Promise<void>;
};

const timeoutMs = 10_000;
const triesMax = 6;

export function openZones({ url, key }: { url: string; key: string }): Zones {
  const queues = new Map<string, Promise<unknown>>();

  /** Runs after this process's earlier writes to the zone. */
  async function inTurn<T>(zone: string, write: () => Promise<T>): Promise<T> {
    const before = queues.get(zone) ?? Promise.resolve();
    const turn = before.then(write, write);
    queues.set(zone, turn);
    try {
      return await turn;
    } finally {
      if (queues.get(zone) === turn) queues.delete(zone);
    }
  }

  async function call(method: string, path: string, body?: unknown): Promise<Response> {
    for (let tries = 1; ; tries++) {
      const answer = await fetch(`${url}/api/v1/servers/localhost${path}`, {
        method,
        headers: { 'x-api-key': key, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(timeoutMs),
      }).catch((cause) => failed(cause));
      if (answer.status < 500) return answer;
      if (tries === triesMax) throw failure(true, `${method} ${path}: ${answer.status}`);
      await sleep(randomInt(5, 45) * tries);
    }
  }

  return {
    async read(zone) {
      const answer = await call('GET', zonePath(zone));
      if (answer.status === 404) return undefined;
      requireOk(answer, 'read a zone');
      const { rrsets } = (await answer.json()) as { rrsets: ApiSet[] };
      return rrsets.map(({ name, type, ttl, records }) => ({
        name,
        type,
        ttl,
        contents: records.map(({ content }) => content),
      }));
    },

    create: (zone, sets) =>
      inTurn(zone, async () => {
        const rrsets = sets.map(({ name, type, ttl, contents }) => ({ name, type, ttl, records: recordsOf(contents) }));
        const answer = await call('POST', '/zones', { name: `${zone}.`, kind: 'Native', nameservers: [], rrsets });
        if (answer.status === 409) return;
        if (answer.status === 422) throw new RecordsRefused(await wordsOf(answer));
        requireOk(answer, 'create a zone');
      }),

    replace: (zone, sets) =>
      inTurn(zone, async () => {
        const answer = await call('PATCH', zonePath(zone), { rrsets: sets.map(changeOf) });
        if (answer.status === 422) throw new RecordsRefused(await wordsOf(answer));
        requireOk(answer, 'write to a zone');
      }),

    remove: (zone) =>
      inTurn(zone, async () => {
        const answer = await call('DELETE', zonePath(zone));
        if (answer.status !== 404) requireOk(answer, 'remove a zone');
      }),
  };
}

type ApiSet = { name: string; type: string; ttl: number; records: { content: string }[] };

const zonePath = (zone: string) => `/zones/${encodeURIComponent(`${zone}.`)}`;
const recordsOf = (contents: readonly string[]) => contents.map((content) => ({ content, disabled: false }));

function changeOf({ name, type, ttl, contents }: RecordSet) {
  if (contents.length === 0) return { name, type, changetype: 'DELETE' };
  return { name, type, ttl, changetype: 'REPLACE', records: recordsOf(contents) };
}

async function wordsOf(answer: Response): Promise<string> {
  return (await answer.text()).slice(0, 500);
}

function requireOk({ ok, status }: Response, what: string): void {
  if (!ok) throw failure(false, `${what}: ${status}`);
}

function failed(cause: unknown): never {
  throw failure(true, cause);
}

function failure(retryable: boolean, cause: unknown) {
  return errors.provider_error('The platform’s name servers did not respond, or rejected the request.', {
    retryable,
    nextAction: retryable ? 'Send the same request again in a moment.' : 'Report the error to the operator.',
    cause,
  });
}

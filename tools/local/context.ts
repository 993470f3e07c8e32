/** What the parts of a stack are made of. */
import type { Postgres } from './services/postgres.ts';
import type { startTemporal } from './services/temporal.ts';

export type ProcessName = 'api' | 'worker' | 'edge';

export type Ports = {
  api: number;
  edge: number;
  postgres: number;
  temporal: number;
  temporalUi: number;
  /** Of the mail catcher's pages, and of its mail server. */
  mail: number;
  smtp: number;
  /** Of the stand-in for the provider of payments: its API and its pages. */
  payments: number;
  /** Where the edge speaks TLS. */
  edgeTls: number;
  /** The rest of the DNS, and where names are registered in it. */
  names: number;
  registrar: number;
  /** Our own name server and its API; the authority, and where its root is to be had. */
  zones: number;
  zonesApi: number;
  authority: number;
  authorityRoots: number;
};

/** Shows one step of a start; `note` tells of a long one's course. */
export type Progress = { step<T>(title: string, run: (note: (line: string) => void) => Promise<T>): Promise<T> };

export type Context = {
  dataDir: string;
  ports: Ports;
  durable: boolean;
  secret: string;
  /** Goes over what the stack sets. */
  extraEnv: NodeJS.ProcessEnv;
  logFile(name: string): string;
  progress: Progress;
  /** Aborted when the start is to be given up. */
  signal: AbortSignal | undefined;
  /** Starts the workflow engine. */
  engine: typeof startTemporal;
  /** Set once it has started. */
  postgres?: Postgres;
  /** What each of our processes waits for before it runs. */
  needs?: Record<ProcessName, Promise<unknown>>;
};

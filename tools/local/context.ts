/** Shared state of a stack while it starts. */
import type { Postgres } from './services/postgres.ts';
import type { startTemporal } from './services/temporal.ts';

export type ProcessName = 'api' | 'worker' | 'edge';

export type Ports = {
  api: number;
  edge: number;
  postgres: number;
  temporal: number;
  temporalUi: number;
  /** The mail catcher's pages, and its SMTP server. */
  mail: number;
  smtp: number;
  /** The simulated payment provider: its API and its pages. */
  payments: number;
  /** The edge's TLS port. */
  edgeTls: number;
  /** The resolver of the local DNS, and the registrar's HTTP port. */
  names: number;
  registrar: number;
  /** Our own name server and its API; the certificate authority, and its management port, which serves its root. */
  zones: number;
  zonesApi: number;
  authority: number;
  authorityRoots: number;
};

/** Shows one step of a start; `note` reports progress within a long one. */
export type Progress = { step<T>(title: string, run: (note: (line: string) => void) => Promise<T>): Promise<T> };

export type Context = {
  dataDir: string;
  ports: Ports;
  durable: boolean;
  secret: string;
  /** Overrides what the stack sets. */
  extraEnv: NodeJS.ProcessEnv;
  logFile(name: string): string;
  progress: Progress;
  /** Aborted to cancel the start. */
  signal: AbortSignal | undefined;
  /** Starts Temporal. */
  startTemporal: typeof startTemporal;
  /** Set once it has started. */
  postgres?: Postgres;
  /** What each of our processes waits for before it runs its entry. */
  needs?: Record<ProcessName, Promise<unknown>>;
};

/** Structured logs: one line of JSON each, without secrets. */
import pino, { type Logger } from 'pino';
import type { Config } from './config.ts';
import { contextFields } from './telemetry/context.ts';
import { countRepair } from './telemetry/metrics.ts';

const hasRequest = Symbol('logs its own request id');

/** The logger of a request. Its lines contain its own request id, whatever context they are written in. */
export function requestLogger<Bindings extends object>(log: Logger, bindings: Bindings, options = {}): Logger {
  return Object.assign(log.child(bindings, options), { [hasRequest]: true });
}

/** Adds the current context to each line. */
export const withContextFields = {
  mixin(_fields: object, _level: number, log: object) {
    return hasRequest in log ? {} : contextFields();
  },
};

export function createLogger(config: Config, name: string): Logger {
  return pino({
    name,
    level: config.logLevel,
    ...withContextFields,
    hooks: {
      // Counts each logged repair.
      logMethod(args, method) {
        const [first] = args as [unknown];
        if (typeof first === 'object' && first !== null && 'repair' in first) countRepair(String(first.repair));
        method.apply(this, args);
      },
    },
    redact: [
      '*.authorization',
      '*.password',
      '*.secret',
      '*.access_token',
      'req.headers.authorization',
      'req.headers.cookie',
    ],
  });
}

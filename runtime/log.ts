/** Structured logs: one line of JSON each, without secrets. */
import pino, { type Logger } from 'pino';
import type { Config } from './config.ts';
import { causeFields } from './telemetry/context.ts';
import { countRepair } from './telemetry/metrics.ts';

const hasRequest = Symbol('a line of this says its request');

/** Of a request, whose lines say its id wherever they are written from. */
export function logOfRequest<Bindings extends object>(log: Logger, bindings: Bindings, options = {}): Logger {
  return Object.assign(log.child(bindings, options), { [hasRequest]: true });
}

/** Each line says what it is written for. */
export const linesWithCause = {
  mixin(_fields: object, _level: number, log: object) {
    return hasRequest in log ? {} : causeFields();
  },
};

export function openLog(config: Config, name: string): Logger {
  return pino({
    name,
    level: config.logLevel,
    ...linesWithCause,
    hooks: {
      // A repair that is logged is a repair that is counted.
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

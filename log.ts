/** Structured logs: one line of JSON each, without secrets. */
import pino, { type Logger } from 'pino';
import type { Config } from './config.ts';
import { countRepair } from './metrics.ts';

export function openLog(config: Config, name: string): Logger {
  return pino({
    name,
    level: config.logLevel,
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

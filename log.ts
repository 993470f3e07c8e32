/** Structured logs: one line of JSON each, without secrets. */
import pino, { type Logger } from 'pino';
import type { Config } from './config.ts';

export function openLog(config: Config, name: string): Logger {
  return pino({
    name,
    level: config.logLevel,
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

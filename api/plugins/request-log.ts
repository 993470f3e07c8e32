/**
 * One log line per request: the operation, the account, the status, the duration. It contains no address, body or
 * header, because they may contain secrets. Load balancers poll readiness each second, so successful health checks are
 * logged at `debug`.
 */

import type { Api } from '#api/api.ts';
import { countRequest } from '#runtime/telemetry/metrics.ts';

export function logRequests(app: Api): void {
  app.addHook('onResponse', async (request, reply) => {
    const { operation } = request.routeOptions.config;
    const group = `${Math.floor(reply.statusCode / 100)}xx`;
    countRequest(operation ?? 'unknown', group, reply.elapsedTime / 1000);
    const level = operation?.startsWith('health.') && reply.statusCode === 200 ? 'debug' : 'info';
    request.log[level](
      {
        operation: operation ?? request.routeOptions.url ?? 'unknown',
        method: request.method,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime),
        account: request.actor?.accountId,
      },
      'request completed',
    );
  });
}

/** One line for each request: who, what, how it ended, how long it took. No address, body or header: they may hold secrets. */
import type { Api } from '../api.ts';

export function logRequests(app: Api): void {
  app.addHook('onResponse', async (request, reply) => {
    const { operation } = request.routeOptions.config;
    request.log.info(
      {
        operation: operation ?? request.routeOptions.url ?? 'unknown',
        method: request.method,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime),
        account: request.actor?.accountId,
      },
      'answered',
    );
  });
}

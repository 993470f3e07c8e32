/** Liveness and readiness, for load balancers and monitoring. */
import { z } from 'zod';
import type { Api } from '#api/api.ts';
import type { Deps } from '#runtime/deps.ts';
import { checkParts } from './checks.ts';

const part = z.enum(['ok', 'failing']);
const readiness = z.object({
  status: z.enum(['ready', 'not_ready']),
  parts: z.object({ database: part, workflow_engine: part, store: part }),
});

export function healthRoutes(app: Api, deps: Deps): void {
  app.get(
    '/healthz',
    {
      config: { operation: 'health.live' },
      schema: {
        security: [],
        summary: 'Check that the process is running',
        description: 'Asks no other part: for a supervisor that restarts the process.',
        response: { 200: z.object({ status: z.literal('up') }) },
      },
    },
    async () => ({ status: 'up' as const }),
  );

  const check = checkParts(deps);
  app.get(
    '/readyz',
    {
      config: { operation: 'health.ready' },
      schema: {
        security: [],
        summary: 'Check that the database, workflow engine and store respond and that the process is not shutting down',
        description: 'Returns 503 while a part does not respond: for a load balancer.',
        response: { 200: readiness, 503: readiness },
      },
    },
    async (_request, reply) => {
      const parts = await check();
      const ready = Object.values(parts).every((state) => state === 'ok') && !deps.shutdown.signal.aborted;
      return reply.code(ready ? 200 : 503).send({ status: ready ? 'ready' : 'not_ready', parts });
    },
  );
}

/** Defaults of every route: its error response, and a schema that refuses unexpected input. */
import { z } from 'zod';
import type { Api } from '#api/api.ts';
import { tagName } from '#api/docs/tags.ts';
import { errorAnswer, noInput } from '#api/schemas.ts';

const noQuery = z.strictObject({});
const methodsWithBody = ['POST', 'PUT', 'PATCH', 'DELETE'];

/** Add it to a scope before its routes. Throws at startup if a route has no name or no response schema. */
export function routeDefaults(scope: Api): void {
  scope.addHook('onRoute', (route) => {
    const { operation } = route.config ?? {};
    if (!operation) throw new Error(`${route.method} ${route.url} has no operation name`);
    const { response } = (route.schema ?? {}) as { response?: Record<string, unknown> };
    if (!response) throw new Error(`${operation} declares no response`);
    const takesBody = [route.method].flat().some((method) => methodsWithBody.includes(method));
    route.schema = {
      querystring: noQuery,
      ...(takesBody && !route.config?.rawBody ? { body: noInput } : {}),
      ...route.schema,
      operationId: operation,
      tags: [tagName(operation.split('.', 1)[0] ?? operation)],
      response: { ...response, default: errorAnswer },
    } as NonNullable<typeof route.schema>;
  });
}

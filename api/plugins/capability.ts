/** Refuses operations that require a disabled capability: after the token is checked, before the body is validated. */

import type { Api } from '#api/api.ts';
import { missingNow } from '#api/capabilities.ts';
import type { Deps } from '#runtime/deps.ts';

export function requireCapabilities(scope: Api, deps: Deps): void {
  scope.addHook('onRequest', async (request) => {
    const need = request.routeOptions.config.capability;
    for (const one of [need ?? []].flat()) {
      const off = await missingNow(deps, one);
      if (off) throw off;
    }
  });
}

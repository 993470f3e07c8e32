/** A call of what is switched off is told so, whatever it carries: after the token and before the body is looked at. */

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

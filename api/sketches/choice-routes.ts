/**
 * The button *Choose this one* of a sketch's page. No token and no session: the address of the page is the credential.
 * The page is on another host, so its form has no CSRF token; the address of the form is the secret.
 */
import formBody from '@fastify/formbody';
import { z } from 'zod';
import type { Api } from '#api/api.ts';
import { useEntityManager } from '#api/plugins/bearer.ts';
import { pageOptions, readForm, sendErrorPage, sendPage } from '#api/plugins/browser.ts';
import { requireCapabilities } from '#api/plugins/capability.ts';
import { limitClients } from '#api/plugins/rate-limit.ts';
import { limitBodyTime } from '#api/plugins/sockets.ts';
import type { Deps } from '#runtime/deps.ts';
import { siteAddress } from '#runtime/site-addresses.ts';
import { noticePage } from '#web/pages/notice.ts';
import { chooseDirection } from './choices.ts';

const formBytesMax = 1_024;
const labelParams = z.object({ label: z.string().regex(/^[a-z0-9-]{1,63}$/) });

export async function sketchChoiceRoutes(scope: Api, deps: Deps): Promise<void> {
  limitBodyTime(scope);
  scope.removeAllContentTypeParsers();
  await scope.register(formBody, { bodyLimit: formBytesMax });
  scope.setErrorHandler((error, request, reply) => sendErrorPage(error, request, reply));
  useEntityManager(scope, deps);
  limitClients(scope, deps, 'pages');
  requireCapabilities(scope, deps);
  const { config, schema } = pageOptions('sketch.choose', 'sketches');

  scope.post(
    '/sketches/:label/choice',
    { config, schema: { ...schema, params: labelParams } },
    async (request, reply) => {
      const { label } = request.params;
      const position = Number(/^[1-9]$/.exec(readForm(request).field('direction') ?? '')?.[0] ?? 0);
      const name = await chooseDirection(request.em, deps, { label, position });
      return sendPage(
        reply,
        noticePage({
          title: `You chose “${name}”`,
          text: 'We have passed on your choice. You can still choose another one.',
          lit: true,
          link: { href: `${siteAddress(deps.config, label)}/`, text: 'Back to the sketches' },
        }),
      );
    },
  );
}

/**
 * Adds links to the API description: a created or listed resource has the parameters of the operations on it (OpenAPI
 * 3.1, Link Object). Clients can follow them; tests that chain operations do.
 */

type Schema = { $ref?: string; properties?: Record<string, { items?: Schema }> };
type Link = { operationId: string; parameters: Record<string, string> };
type Answer = { content?: Record<string, { schema?: Schema }>; links?: Record<string, Link> };
type Described = { operationId: string; security?: unknown[]; responses: Record<string, Answer> };
type Methods = Record<string, Described>;

/** The path of a resource. Its last parameter is this field of the resource; the others are those of the request. */
type Place = { address: string; field: string };

const at = (address: string, field = 'id'): Place => ({ address, field });

/** By the name of the schema of a response, or of the items in it. */
const placesOf: Readonly<Record<string, readonly Place[]>> = {
  Asset: [at('/v1/sites/{id}/assets/{path}', 'path')],
  Bookable: [at('/b/{public_id}', 'public_id')],
  Booking: [at('/v1/bookings/{id}')],
  CalendarFeed: [at('/v1/calendar-feeds/{id}')],
  Check: [at('/v1/checks/{id}')],
  Comparison: [at('/v1/comparisons/{id}')],
  Collaborator: [at('/v1/sites/{id}/collaborators/{account_id}', 'account_id')],
  CommentThread: [at('/v1/comments/{id}')],
  Deployment: [at('/v1/deployments/{id}')],
  Domain: [at('/v1/domains/{id}')],
  DomainRecord: [at('/v1/domains/{id}/records/{record_id}', 'record_id')],
  Form: [at('/v1/forms/{id}'), at('/f/{form_id}')],
  GitCredential: [at('/v1/git-credentials/{id}')],
  Invitation: [at('/v1/invitations/{id}')],
  NewCalendarFeed: [at('/v1/calendar-feeds/{id}')],
  NewGitCredential: [at('/v1/git-credentials/{id}')],
  NewReviewLink: [at('/v1/review-links/{id}')],
  NewUploadLink: [at('/v1/uploads/{id}')],
  Payment: [at('/v1/payments/{id}')],
  PayoutAccount: [at('/v1/account/payout-accounts/{id}')],
  PayoutOffer: [at('/v1/payout-offers/{id}')],
  PreviewSlot: [at('/v1/sites/{id}/previews/{slot}', 'slot')],
  ReviewLink: [at('/v1/review-links/{id}')],
  Site: [at('/v1/sites/{id}')],
  SiteInvitation: [at('/v1/sites/{id}/invitations/{invitation_id}')],
  Sketch: [at('/v1/sketches/{id}')],
  Submission: [at('/v1/submissions/{id}')],
  Token: [at('/v1/tokens/{id}')],
  UploadLink: [at('/v1/uploads/{id}')],
};

/** Adds links to the responses of all operations that require a token. */
export function linkCalls<Document extends object>(document: Document): Document {
  const { paths = {} } = document as { paths?: Record<string, Methods> };
  for (const [path, methods] of Object.entries(paths)) {
    for (const { security, responses } of Object.values(methods)) {
      const answer = responses['200'];
      const schema = answer?.content?.['application/json']?.schema;
      const links = security === undefined && schema ? linksFrom(path, schema, paths) : {};
      if (answer && Object.keys(links).length > 0) answer.links = links;
    }
  }
  return document;
}

function linksFrom(from: string, schema: Schema, paths: Record<string, Methods>): Record<string, Link> {
  const listed = schema.properties?.items?.items;
  const places = placesOf[nameOf(listed ?? schema)] ?? [];
  const pointer = listed ? '/items/0' : '';
  // A request by the resource's own path needs no link to itself.
  const links = places
    .filter(({ address }) => !isAbout(from, address))
    .flatMap(({ address, field }) => {
      const parameters = parametersOf(address, `$response.body#${pointer}/${field}`);
      return Object.entries(paths)
        .filter(([path]) => isAbout(path, address))
        .flatMap(([, methods]) => Object.values(methods))
        .map(({ operationId }) => [operationId, { operationId, parameters }] as const);
    });
  return Object.fromEntries(links);
}

function parametersOf(address: string, last: string): Record<string, string> {
  const names = [...address.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const values = names.map((name, at) => [name, at === names.length - 1 ? last : `$request.path.${name}`]);
  return Object.fromEntries(values);
}

const isAbout = (path: string, address: string): boolean => path === address || path.startsWith(`${address}/`);

const nameOf = ({ $ref }: Schema): string => $ref?.split('/').at(-1) ?? '';

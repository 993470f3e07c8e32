/** The API reference: the operations of one group, from the OpenAPI document. */
import { type Html, html } from '#web/html.ts';
import { markdownHtml } from '#web/markdown.ts';
import { fieldList, objectNames, type Schema, type Schemas, typeName } from './reference-schemas.ts';

type Parameter = { name: string; in: string; required?: boolean; description?: string; schema?: Schema };
type Content = Record<string, { schema?: Schema }>;
export type OperationShown = {
  method: string;
  path: string;
  operationId: string;
  summary?: string;
  description?: string;
  tags?: string[];
  security?: unknown[];
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: Content };
  responses?: Record<string, { description?: string; content?: Content }>;
};

const places = { path: 'In the path', query: 'In the query', header: 'Headers' } as const;
/** Describes a successful response of which there is nothing else to say: the page leaves it out. */
export const usualResponse = 'The call succeeded.';
const words = (text: string) => markdownHtml(text).body;

/** The page of a group: an index, its operations by tag, and the objects that they take and return. */
export function referencePage(
  name: string,
  tags: readonly string[],
  operations: readonly OperationShown[],
  schemas: Schemas,
): Html {
  const byTag = tags.map((tag) => ({ tag, all: operations.filter((one) => one.tags?.includes(tag)) }));
  const objects = objectNames(operations, schemas);
  return html`<h1>${name}</h1>
${operationIndex(operations)}
${byTag.map(({ tag, all }) => html`<h2>${tag}</h2>\n${all.map(operationEntry)}`)}
${objects.length > 0 ? html`<h2>Objects</h2>\n${objects.map((one) => objectEntry(one, schemas[one] ?? {}))}` : null}`;
}

/** One line for each operation. `path`: of the page that has them, if it is another one. */
export function operationIndex(operations: readonly OperationShown[], path = ''): Html {
  return html`<ul class="index">${operations.map(
    ({ method, operationId, summary }) =>
      html`<li><b>${method}</b><a href="${path}#${operationId}">${summary ?? operationId}</a></li>\n`,
  )}</ul>`;
}

function operationEntry(operation: OperationShown): Html {
  const { method, path, operationId, summary = operationId, description, parameters = [], requestBody } = operation;
  return html`<section id="${operationId}" class="operation">
<h3>${summary}</h3>
<p class="call"><b>${method}</b> <code>${path}</code></p>
${operation.security?.length === 0 ? html`<p class="quiet-text">Needs no token.</p>` : null}
${description ? words(description) : null}
${Object.entries(places).map(([place, title]) => {
  const all = parameters.filter((one) => one.in === place);
  return all.length > 0 ? html`<h4>${title}</h4>\n<ul class="fields">${all.map(parameterEntry)}</ul>` : null;
})}
${requestBody ? html`<h4>Body${requestBody.required ? null : html` <small>(optional)</small>`}</h4>\n${contentEntry(requestBody.content)}` : null}
${answerEntry(operation.responses?.['200'])}
</section>
`;
}

function parameterEntry({ name, required, description, schema = {} }: Parameter): Html {
  const { description: own, ...rest } = schema;
  return fieldList(
    {
      type: 'object',
      properties: { [name]: { ...rest, description: description ?? own } },
      required: required ? [name] : [],
    },
    true,
  );
}

function contentEntry(content: Content): Html {
  return html`${Object.entries(content).map(([type, { schema = {} }]) =>
    type === 'application/json'
      ? schema.properties
        ? fieldList(schema)
        : html`<p>${typeName(schema)}</p>`
      : html`<p><code>${type}</code></p>`,
  )}`;
}

function answerEntry(answer: { description?: string; content?: Content } | undefined): Html | null {
  if (!answer) return null;
  const { description, content } = answer;
  const said = description && description !== usualResponse ? words(description) : null;
  return html`<h4>Returns</h4>\n${said}${content ? contentEntry(content) : null}`;
}

function objectEntry(name: string, schema: Schema): Html {
  return html`<section id="object-${name}" class="operation">
<h3>${name}</h3>
${schema.description ? words(schema.description) : null}
${schema.properties ? fieldList(schema) : html`<p>${typeName(schema)}</p>`}
</section>
`;
}

/** The texts of the demo. Each replaces a placeholder of the template, by file and in order. */
const owner = 'Rosa Whitlock';
const street = '4 Harbour Row';
const town = 'Saltmere SX1 4QA';
const picture = 'A sash window with a plant on its sill';
const plan = 'A drawing of a house, a ruler and a cup of coffee on a desk';

const texts: Record<string, readonly string[]> = {
  'src/site.json': [
    'Good wood, cut to fit.',
    'Kitchens, stairs and windows in Saltmere, drawn, built and fitted by the same four people.',
    '+44 20 7946 0018',
    'hello@workshop.example',
    street,
    town,
    '08:00–17:00',
    '08:00–17:00',
    '08:00–17:00',
    '08:00–17:00',
    '08:00–15:00',
    '09:00–12:00',
    'closed',
    'On public holidays the workshop is closed.',
  ],
  'src/pages/index.astro': [
    'Kitchens',
    'Frames in ash or oak, and doors that close without a sound. For rooms where nothing is square.',
    'Stairs',
    'New flights, and old ones made safe. You can use your stairs again the same evening.',
    'Windows',
    'Sashes repaired where the wood is sound, copied where it is not, and draught-proofed either way.',
    'A visit',
    'We measure, listen, and tell you honestly whether it is worth doing',
    'free',
    'A sash window repaired',
    'New cords, one new rail, draught-proofing and two coats of paint',
    'from £280',
    'A kitchen',
    'Twelve cabinets in ash, built and fitted, without appliances',
    'from £9,400',
    'The workshop: a green front with striped awnings and a red door',
    picture,
    'Sash window, Mill Lane, March 2026',
    plan,
    'Drawing for a garden room, April 2026',
    'They drew it at our table, and it looks exactly like the drawing.',
    'Ines Harrow, kitchen',
    'They include VAT and are valid until the end of the year.',
  ],
  'src/pages/about.astro': [
    'Four joiners in a former sail loft, since 2009.',
    'The same joiner measures your room, builds the furniture and fits it. You get a drawing and a fixed price before we start.',
    `${owner}: kitchens and drawings. She opened the workshop.`,
    'Tomasz Bielak: stairs, and everything that has to bear weight.',
    plan,
  ],
  'src/pages/contact.astro': ['Bus 7 to Quayside, then two minutes on foot. Vans can park in the yard.'],
  'src/pages/imprint.astro': [
    `${owner}, sole trader`,
    `${street}, ${town}, United Kingdom`,
    'hello@workshop.example',
    'This is the demo of Frontage: the workshop and its people are invented.',
    owner,
  ],
  'src/pages/privacy.astro': [
    `${owner}, ${street}, ${town}, hello@workshop.example`,
    'The site is served from this machine alone.',
    'We delete it after a year.',
    'We delete bookings after a year.',
    'the Information Commissioner’s Office.',
  ],
  'src/content/posts/first-news.md': [
    'The old loft has a new floor',
    'Oak from two miles away, laid by the four of us in a week.',
    'The workshop was closed for a week in February, and now it has a floor of oak from Saltmere wood. Come and see it on a Saturday.',
  ],
  'src/content/posts/second-news.md': [
    'Sash windows before the summer',
    'We repair windows from May to August. Six weeks are still free.',
    'Windows have to come out, so we repair them when it is warm. We board up each opening the same day and bring the sash back within a week. A repair costs from £280.',
  ],
};

/** The files of the demo that have placeholders. */
export const demoFiles: readonly string[] = Object.keys(texts);

/** The text of a file with its placeholders replaced; undefined if it has none, or others than its template's. */
export function fillPlaceholders(path: string, text: string): string | undefined {
  const fillers = texts[path] ?? [];
  const parts = text.split(/\[\[[^\]]*\]\]/);
  if (parts.length !== fillers.length + 1) return undefined;
  return parts.map((part, index) => part + (fillers[index] ?? '')).join('');
}

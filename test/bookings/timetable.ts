/** A site's declared timetable, for tests. */

/** Open all day, every day, for as long as is asked about. */
export const daily = [{ days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'], from: '00:00', to: '24:00' }];

/** A timetable of one calendar and one service. */
export function timetable({
  calendar = {},
  service = {},
  ...rest
}: {
  calendar?: object;
  service?: object;
  [field: string]: unknown;
} = {}) {
  return {
    calendars: [{ key: 'room', name: 'Room', capacity: 1, time_zone: 'Europe/Berlin', hours: daily, ...calendar }],
    services: [
      { key: 'talk', name: 'A talk', duration_minutes: 60, calendar_keys: ['room'], horizon_days: 365, ...service },
    ],
    ...rest,
  };
}

const intake = [
  {
    name: 'made',
    label: 'Have you made pots before?',
    kind: 'radio',
    required: true,
    options: ['Never', 'A few times'],
  },
  { name: 'wishes', label: 'Wishes', kind: 'textarea' },
];
/** Classes with questions, of which a visitor books up to three seats. */
export const classes = () =>
  timetable({
    calendar: { capacity: 4, name: 'The studio' },
    service: { name: 'Evening at the wheel', seats_max: 3, intake, lead_minutes: 600 },
  });

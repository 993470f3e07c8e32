/** Types of what browser scripts use beyond TypeScript's own libraries. Checked with `tsc -p web`. */

/** The bundler imports a style sheet as its text. */
declare module '*.css' {
  const text: string;
  export default text;
}

declare namespace Intl {
  /** ECMA-402, Intl Locale Info: a method in newer engines, a getter in older ones. */
  interface Locale {
    getWeekInfo?(): { firstDay: number };
    readonly weekInfo?: { firstDay: number };
  }
}

/** Turnstile, explicit rendering. */
interface HostedVerifier {
  render(place: HTMLElement, options: Record<string, unknown>): string;
  reset(widget: string | undefined): void;
}

declare var turnstile: HostedVerifier;
declare var $altcha: { algorithms: Map<string, () => Worker> };

/** Intersection Observer, version 2. */
interface IntersectionObserverInit {
  trackVisibility?: boolean;
  delay?: number;
}
interface IntersectionObserverEntry {
  readonly isVisible: boolean;
}

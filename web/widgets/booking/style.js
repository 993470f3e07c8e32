/** The style of the widget, as no element: a page's policy (CSP, style-src) does not apply to it. */
import text from './widget.css';

export const style = new CSSStyleSheet();
style.replaceSync(text);

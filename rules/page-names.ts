/** What people call a page of a site, where its title is not known. Pure. */

export const pageName = (path: string): string => (path === '/' ? 'Home page' : path);

/** The same within a sentence. */
export const pageInText = (path: string): string => (path === '/' ? 'the home page' : `the page ${path}`);

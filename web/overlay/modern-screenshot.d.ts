/** The library is served beside the overlay's scripts. */
export { domToCanvas } from 'modern-screenshot';

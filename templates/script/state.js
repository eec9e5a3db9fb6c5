/* What the reader has chosen on this page, as it stands in the address. */
import { fragmentOf } from "./address.js";

/** @type {Record<string, string>} */
let state = {};

/** The state, for reading. */
export const current = () => state;

/** Puts *pairs* in the place of the whole state; the address stays as it is. @param {Record<string, string>} pairs */
export function setState(pairs) {
  state = pairs;
}

/** The address of the state with *changes*. @param {Record<string, string>} [changes] */
export const addressWith = (changes) => fragmentOf({ ...state, ...changes });

/** Takes *changes* into the state; the address stays as it is. @param {Record<string, string>} changes "" removes */
export function note(changes) {
  state = Object.fromEntries(Object.entries({ ...state, ...changes }).filter(([, value]) => value));
}

/** Takes *changes* into the state and the address. @param {Record<string, string>} changes "" removes a pair */
export function remember(changes) {
  note(changes);
  history.replaceState(null, "", addressWith());
}

/** Takes the place *id* into the state and the address: a step that the browser's button goes back from. */
export function goneTo(id) {
  note({ at: id });
  history.pushState(null, "", addressWith());
}

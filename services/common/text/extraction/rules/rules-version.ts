/**
 * Changes whenever the rules would answer differently. On its own, so that the thread that only hands work out need not
 * load the rules.
 */
export const RULES_VERSION = 'rules-1';

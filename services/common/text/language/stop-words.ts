/**
 * English function words and question words: in queries they say nothing about the subject. They stay in the index, so
 * that a query of nothing else ("The Who", "to be or not to be") still finds its text.
 */
const FUNCTION_WORDS = `
a about above after again against all almost also although always am among an and another any anybody anyone anything
are aren around as at away be became because become becomes been before being below between both but by can cannot
could couldn did didn do does doesn doing don done down during each either else ever every everybody everyone
everything few for from further get gets getting give given gives go goes going got had hadn has hasn have haven having
he hence her here hers herself him himself his how however i if in into is isn it its itself just let like ll made make
makes many may maybe me might mine more most much must my myself neither no nobody nor not nothing now of off often on
once one only onto or other others otherwise ought our ours ourselves out over own per perhaps please quite rather re
really same shall she should shouldn since so some somebody someone something somewhat soon still such than that the
their theirs them themselves then there therefore these they thing things this those though through thus to together
too toward towards under until unto up upon us ve very was wasn way we well were weren what whatever when whenever
where whereas wherever whether which whichever while who whoever whole whom whomever whose why will with within without
won would wouldn yes yet you your yours yourself yourselves
`;

const REQUEST_WORDS = `
tell show list name describe explain find know knew known mean means called many much kind type sort say says said
`;

const words = (text: string): string[] => text.trim().split(/\s+/u);

/** Stop words in lower case, without apostrophes. */
export const STOP_WORDS: ReadonlySet<string> = new Set([
  ...words(FUNCTION_WORDS),
  ...words('dont didnt doesnt isnt arent wasnt werent hasnt havent hadnt cant couldnt wont wouldnt shouldnt'),
  ...words('im ive id youre youve hes shes theyre theyve thats whats whos theres lets'),
]);

/** Words of a request that name no subject ("tell me", "what kind of"): removed from queries, not from names. */
export const REQUEST_STOP_WORDS: ReadonlySet<string> = new Set(words(REQUEST_WORDS));

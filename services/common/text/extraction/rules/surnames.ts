const set = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/u));

/** Common words that are surnames as well: at the end of a name they do not speak against a person. Lower case. */
export const WORDS_AND_SURNAMES = set(`
  young king brown white black green smith cook baker long hunter fisher wood woods stone hill bell page bush rice price grant
  ford reed cross day may west north drew field fuller rose marsh moore gray grey fox wolf bird knight bishop pope noble sharp
  stark swift rich hope love golden waters rivers brooks banks parks wells mills fields meadows church hall house castle chase
  chambers guest power powers best little small short strong weaver miller carter parker porter potter taylor turner walker
  wright mason butler archer gardner shepherd singer major judge ray lane street winter summers bacon bean berry lamb crow hawk
  duke earl baron prince sweet savage bond case coach heath kite law lord ring root sadler shaw spring steel temple tower
  ward webb yates block lock carpenter dean mayor bank park player post gates fields abbot monk barber cooper glass gold silver`);

/** Ends of places that are surnames as well: behind a given name they are one (`Benny Hill`, `Sally Field`). */
export const PLACES_AND_SURNAMES = set(
  'hill hall church lake field forest house rivers castle street rock camp fields wells mills meadows farm park',
);

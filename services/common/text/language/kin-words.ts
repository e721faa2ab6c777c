/** Other English words for a relative, behind the plain one. */
export const KIN_SYNONYMS: ReadonlyMap<string, readonly string[]> = new Map(
  'mother mum mom mummy mommy mama|father dad daddy papa|child kid|grandmother grandma granny nana|grandfather grandpa granddad|husband hubby|sibling sib'
    .split('|')
    .map((group) => group.split(' '))
    .map(([label = '', ...others]) => [label, others]),
);

const inEnglish = (groups: Readonly<Record<string, string>>): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(groups).flatMap(([english, words]) => words.split(' ').map((word) => [word, english] as const)),
  );

/** Relatives and the like in German, Spanish and French, each with the English word. */
export const FOREIGN_KIN = inEnglish({
  wife: 'frau ehefrau mujer esposa femme',
  husband: 'mann ehemann marido mari',
  sister: 'schwester hermana sœur',
  brother: 'bruder hermano frère',
  mother: 'mutter madre mère',
  father: 'vater padre père',
  daughter: 'tochter hija fille',
  son: 'sohn hijo fils',
  partner: 'partnerin partner compagne compagnon',
  boss: 'chefin chef jefa jefe',
  grandmother: 'oma abuela',
  grandfather: 'opa abuelo',
  aunt: 'tante tía',
  uncle: 'onkel tío oncle',
  cousin: 'prima primo',
});

export const FOREIGN_PETS = inEnglish({ dog: 'hund perro chien', cat: 'katze gato chat' });

/** Several of them. */
export const FOREIGN_KIN_OF_SEVERAL = inEnglish({
  child: 'kinder kindern hijos enfants',
  daughter: 'töchter töchtern hijas filles',
  son: 'söhne söhnen',
});

import { expect } from 'chai';
import { readQuestion } from './question.ts';
import { isOfOtherRelative, unmetCondition } from './unmet-condition.ts';

const CASES = [
  ['What does Mrs. Yilmaz grow?', 'Mr. Yilmaz grows aubergines.', 'person'],
  ['What does Mr. Yilmaz grow?', 'Mr. Yilmaz grows aubergines.', null],
  ['Where does my mother live?', 'My mother-in-law lives in the small house.', 'person'],
  ['Where does my mother live?', 'My mum lives in the small house.', null],
  ['Who is the CEO of Zalando?', 'Priya Nair is a data engineer at Zalando in Berlin.', 'role'],
  ['Who is the captain of the ship?', 'Ahab commands the ship.', null],
  ['What is my cat called?', 'I have a dog named Pablo.', 'kind'],
  ['What is my dog called?', 'I have a border collie named Pablo and a cat.', null],
  ["What is the user's wife called?", "User's sister Inês lives in Braga", 'person'],
  ["What is my mother's first name?", 'My father keeps a donkey called Hugo.', 'person'],
  ['What is my son called?', 'I have a daughter named Lotte who is six.', 'person'],
  ['What is my daughter called?', 'User has a daughter named Lotte who is six.', null],
  ['Where did Jane study?', 'I studied physics in Bonn.', 'person'],
  ['Where did I study?', 'I studied physics in Bonn.', null],
  ['Where did Jane study?', 'I studied physics in Bonn, and Jane in Kiel.', null],
  ['Where was Piotr born?', 'Tester: Piotr, 45 EUR per hour.', 'event'],
  ['Where was Piotr born?', 'Piotr grew up in Lublin.', null],
  ['Does Paul have a dog?', 'Anna adopted a dog last spring.', 'subject'],
  ['Which river flooded the cellar?', 'In March 2013 water stood in the cellar after the snow melted.', 'name'],
  ['Which river flooded the cellar?', 'In March 2013 the Tisza flooded the cellar.', null],
  ['What breed is Luna?', 'We adopted our cat Luna from a shelter.', 'breed'],
  ['What breed is Luna?', 'Max is a Labrador.', 'breed'],
  ['What breed is Max?', 'Max is a Labrador.', null],
  ['What breed is Gombóc?', 'Our dog is a puli named Gombóc.', null],
  ['Who stole my bicycle?', 'My bicycle was stolen in front of the institute.', 'doer'],
  ['Who sweeps the chimney?', 'The chimney is swept in March and in September by Mr. Vlk.', null],
  ['Who wrote the manual?', 'It is a single program, written in Rust.', 'doer'],
  ['Who is the founder of Fjordtech?', 'Fjordtech was founded in 2014 and has 120 employees.', 'doer'],
  ['Who was the designer of the museum?', 'The museum was designed in 1990.', 'doer'],
  ['Who takes over the bar?', 'Nobody wants to take over the bar.', 'doer'],
  ['Who taught me to bake?', 'I teach a course for bakers.', 'doer'],
  ['Do we have a dog?', 'Dogs are allowed on the ground floor.', 'owner'],
  ['Do we have a dog?', 'Our dog barks.', null],
  ['Are cats allowed?', 'Dogs are allowed on the ground floor.', 'subject'],
  ['How much is a furnished room?', 'An unfurnished room is 300 euros.', 'kind'],
  ['Did Marta like the aquarium?', 'It rained, so Marta visited the aquarium.', 'opinion'],
  ['When did Ewan move to Norway?', 'In June 2023 we visited Ewan in Norway.', 'event'],
  ['When did Ewan move to Norway?', 'Ewan lives in Norway since June 2023.', null],
  ['When does the Golden Lamb close?', 'The next evening is on 11 March at the Golden Lamb.', 'event'],
  ['When does the Golden Lamb close?', 'The Golden Lamb: daily, 10:00 to 22:00.', null],
  ['Who painted the house?', 'We bought the house in October.', 'event'],
  ['Who designed the bridge?', 'The bridge over the Wye is the longest of the county.', 'event'],
  ['Who designed the bridge?', 'The architect of the bridge was Ada Reid.', null],
  ['Who composed the music for the film?', 'The film was directed by Ada Reid and written by Tom Hall.', 'event'],
  ['Who composed the music for the film?', 'The film has a score by Ada Reid.', null],
  ['Who produced the album?', 'The album is the first one by the singer Ada Reid.', 'event'],
  ['When did Ada Reid marry?', 'Ada Reid (born 25 October 1961) is a judoka, and has a husband.', 'event'],
  ['When was Ada Reid born?', 'Ada Reid (born 25 October 1961) is a judoka.', null],
  ['When did Ada Reid win the cup?', 'Ada Reid (born 25 October 1961) won the cup in 1987.', null],
  ['When did Ada Reid retire?', 'Ada Reid is a retired judoka, who won the cup in 1987.', 'event'],
  ['When did Ada Reid retire?', 'Ada Reid, the judoka, retired in 1999.', null],
  ['Where was Ada Reid born?', 'Ada Reid (born 25 October 1961) is a Canadian judoka.', 'event'],
  ['Where was Ada Reid born?', 'Ada Reid (born 25 October 1961 in Leeds) is a Canadian judoka.', null],
  ['Where was Ada Reid born?', 'Ada Reid (born 25 October 1961, Leeds) is a judoka.', null],
  ['Where was Ada Reid born?', 'Born in Leeds, she moved to Bonn in 1990.', null],
  ['When was the bridge built?', 'The bridge will be ready on 17 August.', 'future'],
  ['When will the bridge be ready?', 'The bridge will be ready on 17 August.', null],
  ['Did the school get its crossing?', 'The school would like a crossing at the corner.', 'wish'],
  ['Did the school ask for a crossing?', 'The school asked for a crossing at the corner.', null],
  ['How many rabbits were adopted?', 'animal: rabbit, fee: 35 euros', 'count'],
  ['How many rabbits were adopted?', 'We got 35 euros for each of two rabbits.', null],
  ['How many euros is a rabbit?', 'animal: rabbit, fee: 35 euros', null],
  ['Why was Harriet ill?', 'Paul is in the chair, as Harriet is ill.', 'reason'],
  ['Why is Paul in the chair?', 'Paul is in the chair, as Harriet is ill.', null],
  ['Why do I need glasses?', 'Since 2019 I need glasses.', null],
  ['Did Marta like the aquarium?', 'Marta thought that the aquarium was too small.', null],
  ['Who won the final?', 'The final between Germany and Argentina was tense.', 'event'],
  ['Who won the final?', 'Ada beat Ben in the final.', null],
  ['Which team won the cup?', 'The Herons took the cup by 3:1.', null],
  ['When did I climb the hill?', 'I rose at 4 AM to climb the hill.', 'event'],
  ['When did I rise?', 'I rose at 4 AM to climb the hill.', null],
  ['At what time did I climb the hill?', 'I rose at 4 AM to climb the hill.', null],
  ['When did I climb the hill?', 'In 2015 I rose at 4 AM to climb the hill.', null],
  ["What colour are Milo's paws?", 'He has a white patch on his left ear.', 'subject'],
  ["What colour are Milo's paws?", 'He has white paws.', null],
  ["What colour is Ada's car?", 'Ada drives a red car.', null],
  ['Which airline did I fly to Oslo with?', 'I took a flight from Vienna to Oslo.', 'name'],
  ['Which airline did I fly to Oslo with?', 'I flew to Oslo with Lufthansa.', null],
  ['What is my cousin called?', 'I taught my cousin the basics of Python.', 'name'],
  ['What is my cousin called?', 'I taught my cousin Mia the basics of Python.', null],
  ['What is the name of my neighbour?', 'My neighbour, Petrovic, keeps bees.', null],
  ['What is my cousin called?', 'my cousin is called mia', null],
  ['Which airline did I fly with?', 'I flew with Qatar to Doha.', null],
  ['Who won the election?', 'Ada Reid was elected mayor.', null],
] as const;

describe('unmetCondition', () => {
  for (const [text, sentence, unmet] of CASES) {
    it(`finds ${unmet ?? 'nothing'} missing in "${sentence}" for "${text}"`, () => {
      expect(unmetCondition(readQuestion(text), [{ text: sentence, context: '', author: '' }])).equals(unmet);
    });
  }

  for (const [text, sentence, isOther] of [
    ['Where does Mum live?', 'His mother lives in Tarragona.', true],
    ['Where does Mum live?', "Ada's mother lives in Tarragona, my mother in Bergen.", false],
    ['Who plays the mother in the film?', 'Ada plays his mother.', false],
    ['Where does my mother live?', 'relation: mother, notes: lives in Bergen', false],
    ["Where does Ada's mother live?", 'My mother lives in Bergen.', true],
    ["Where does Ada's mother live?", 'Her mother lives in Turku.', false],
  ] as const) {
    it(`takes "${sentence}" ${isOther ? 'as of another family' : 'for an answer'} for "${text}"`, () => {
      expect(isOfOtherRelative(text, sentence)).equals(isOther);
    });
  }

  it('takes the author of a mail as the one who says I', () => {
    const said = [{ text: 'I studied physics in Bonn.', context: '', author: 'Jane Roe <jane@a.example>' }];
    expect(unmetCondition(readQuestion('Where did Jane study?'), said)).equals(null);
  });
});

/**
 * German, Spanish and French words for the English ones that people use of everyday life and of work: the English word, then
 * those of each language. Regular forms follow from the lemma, irregular ones are listed.
 */
export const EVERYDAY_TRANSLATIONS = `
mother | mutter mama | madre mamá | mère maman
father | vater papa | padre papá | père papa
parents | eltern | padres | parents
sister | schwester | hermana | sœur
brother | bruder brüder | hermano | frère
sibling | geschwister | hermanos | fratrie
son | sohn söhne | hijo | fils
daughter | tochter töchter | hija | fille
child | kind | niño niña hijos | enfant
children | kinder kindern | niños hijos | enfants
baby | baby säugling | bebé | bébé
aunt | tante | tía | tante
uncle | onkel | tío | oncle
cousin | cousin cousine vetter | primo prima | cousin cousine
nephew | neffe | sobrino | neveu
niece | nichte | sobrina | nièce
grandmother | großmutter oma | abuela | grand-mère mamie
grandfather | großvater opa | abuelo | grand-père papi
grandparents | großeltern | abuelos | grands-parents
grandson | enkel | nieto | petit-fils
granddaughter | enkelin | nieta | petite-fille
husband | ehemann gatte | marido esposo | mari époux
wife | ehefrau gattin | esposa mujer | épouse
mother-in-law | schwiegermutter | suegra | belle-mère
partner | partner partnerin | pareja socio | partenaire compagnon compagne
friend | freund freundin | amigo amiga | ami amie
neighbour | nachbar nachbarin | vecino vecina | voisin voisine
colleague | kollege kollegin | colega compañero compañera | collègue
family | familie | familia | famille
man | mann männer | hombre | homme
woman | frau | mujer | femme
boy | junge jungen | chico muchacho | garçon
girl | mädchen | chica muchacha | fille
person | person mensch | persona | personne
people | leute menschen | gente personas | gens
guest | gast gäste | huésped invitado invitada | invité invitée hôte
member | mitglied | miembro socio | membre
twin | zwilling | gemelo gemela | jumeau jumelle jumeaux
godmother | patentante | madrina | marraine
godfather | patenonkel | padrino | parrain
wedding | hochzeit trauung | boda | mariage noces
marry | heiraten geheiratet heirat | casar casarse casado casada casamos casaron | marier épouser marié mariée
married | verheiratet geheiratet | casado casada casamos | marié mariée mariés
divorce | scheidung scheiden geschieden | divorcio divorciar | divorce divorcer
birthday | geburtstag | cumpleaños | anniversaire
born | geboren geburt | nacer nació nacido nacida nacimiento | naître né née naissance
die | sterben gestorben starb tod | morir murió muerto muerta muerte falleció fallecer | mourir mort morte décès décédé
funeral | beerdigung beisetzung | funeral entierro | enterrement obsèques
live | wohnen leben wohnhaft | vivir vivo vive viven | habiter vivre vit vivent vécu
move | umziehen zog umzog umgezogen umzug | mudar mudarse mudanza mudó | déménager déménagement
name | name namen | nombre apellido | nom prénom
nickname | spitzname | apodo | surnom
age | alter | edad | âge
old | alt alter | viejo vieja años | vieux vieille ans
young | jung | joven jóvenes | jeune
house | haus häuser | casa | maison
flat | wohnung | piso apartamento | appartement
apartment | wohnung appartement | apartamento piso | appartement
home | zuhause heim | hogar | foyer domicile
room | zimmer raum räume | habitación cuarto sala | chambre pièce salle
kitchen | küche | cocina | cuisine
bathroom | badezimmer bad | baño | bain
bedroom | schlafzimmer | dormitorio | chambre
cellar | keller | sótano bodega | cave
attic | dachboden | desván ático | grenier
garage | garage | garaje cochera | garage
garden | garten gärten | jardín jardines huerto | jardin potager
balcony | balkon | balcón | balcon
shed | schuppen gartenhaus laube | cobertizo caseta | remise cabanon abri
door | tür türen | puerta | porte
window | fenster | ventana | fenêtre
wall | wand wände mauer | pared muro | mur
roof | dach dächer | tejado techo | toit
floor | boden fußboden stock etage | suelo planta piso | sol étage
stairs | treppe | escalera | escalier
lift | aufzug fahrstuhl | ascensor | ascenseur
key | schlüssel | llave | clé clef
lock | schloss | cerradura | serrure
rent | miete kaltmiete warmmiete | alquiler renta arriendo | loyer
renting | mieten gemietet | alquilar alquilado | louer loué
landlord | vermieter | casero arrendador propietario | propriétaire bailleur
landlady | vermieterin | casera propietaria | propriétaire
tenant | mieter mieterin | inquilino inquilina | locataire
owner | besitzer besitzerin eigentümer eigentümerin inhaber inhaberin | dueño dueña propietario propietaria | propriétaire
belong | gehören gehört | pertenecer pertenece | appartenir appartient
deposit | kaution anzahlung | fianza depósito | caution acompte dépôt
contract | vertrag verträge | contrato | contrat
lease | mietvertrag | arrendamiento | bail
insurance | versicherung | seguro | assurance
heating | heizung | calefacción | chauffage
boiler | heizkessel boiler therme kessel | caldera | chaudière
electricity | strom elektrizität | electricidad luz | électricité
electrician | elektriker elektrikerin | electricista | électricien électricienne
plumber | klempner installateur | fontanero plomero | plombier
painter | maler malerin | pintor pintora | peintre
carpenter | schreiner tischler zimmermann | carpintero | menuisier charpentier
craftsman | handwerker | artesano obrero | artisan
furniture | möbel | mueble | meuble
table | tisch | mesa | table
chair | stuhl stühle | silla | chaise
bed | bett | cama | lit
sofa | sofa couch | sofá | canapé
wardrobe | kleiderschrank schrank schränke | armario ropero | armoire placard
shelf | regal | estante estantería | étagère
drawer | schublade | cajón cajones | tiroir
lamp | lampe leuchte | lámpara | lampe
carpet | teppich | alfombra | tapis
mirror | spiegel | espejo | miroir
fridge | kühlschrank | nevera frigorífico refrigerador | frigo réfrigérateur
freezer | gefrierschrank tiefkühler | congelador | congélateur
oven | ofen backofen | horno | four
stove | herd | estufa | cuisinière poêle
dishwasher | spülmaschine geschirrspüler | lavavajillas | lave-vaisselle
washing machine | waschmaschine | lavadora | lave-linge
machine | maschine | máquina | machine
wash | waschen gewaschen | lavar | laver
dryer | trockner | secadora | sèche-linge
vacuum cleaner | staubsauger | aspiradora | aspirateur
television | fernseher fernsehen | televisor televisión | télévision télé téléviseur
computer | computer rechner | ordenador computadora | ordinateur
laptop | laptop notebook | portátil | portable
printer | drucker | impresora | imprimante
screen | bildschirm | pantalla | écran
phone | telefon handy | teléfono móvil celular | téléphone portable
camera | kamera | cámara | caméra appareil
charger | ladegerät | cargador | chargeur
battery | batterie akku | batería pila | batterie pile
password | passwort kennwort | contraseña clave | passe
code | code | código | code
router | router | router | routeur
number | nummer zahl | número | numéro nombre
address | adresse anschrift | dirección | adresse
street | straße | calle | rue
square | platz | plaza | place
city | stadt städte | ciudad | ville
village | dorf dörfer | pueblo aldea | village
country | land länder | país países | pays
school | schule grundschule gymnasium | escuela colegio instituto | école lycée collège
kindergarten | kindergarten kita | guardería | crèche maternelle
university | universität hochschule | universidad | université
study | studieren studiert studium | estudiar estudio | étudier études
student | student studentin schüler schülerin | estudiante alumno alumna | étudiant étudiante élève
learn | lernen gelernt | aprender | apprendre appris
teach | unterrichten lehren | enseñar | enseigner
teacher | lehrer lehrerin | profesor profesora maestro maestra | professeur enseignant enseignante maître maîtresse
lesson | unterricht stunde lektion | lección clase | leçon cours
course | kurs lehrgang | curso | cours formation
exam | prüfung klausur examen | examen | examen
book | buch bücher | libro | livre
library | bibliothek bücherei | biblioteca | bibliothèque
read | lesen liest gelesen las | leer leyó lee | lire lu lit
write | schreiben geschrieben schrieb | escribir escrito | écrire écrit écrivit
letter | brief | carta | lettre
newspaper | zeitung | periódico diario | journal
work | arbeiten gearbeitet arbeit | trabajar trabajo | travailler travail
job | beruf job stelle | trabajo empleo puesto | emploi poste
profession | beruf | profesión oficio | profession métier
company | firma unternehmen betrieb | empresa compañía | entreprise société
employer | arbeitgeber | empleador | employeur
employee | mitarbeiter mitarbeiterin angestellter angestellte | empleado empleada trabajador | employé employée salarié
boss | chef chefin vorgesetzter vorgesetzte | jefe jefa | chef patron patronne
manager | leiter leiterin manager geschäftsführer | gerente director directora | gérant directeur directrice responsable
lead | leiten geleitet führen geführt | dirigir dirige liderar | diriger dirige mener
office | büro | oficina despacho | bureau
salary | gehalt lohn löhne | sueldo salario | salaire
pension | rente | pensión jubilación | retraite pension
retire | rente pensioniert ruhestand | jubilar jubilarse jubilado | retraite retraité
hire | einstellen eingestellt | contratar contratado | embaucher embauché recruter
resign | kündigen gekündigt kündigung | renunciar dimitir | démissionner démission
nurse | krankenschwester krankenpfleger pfleger pflegerin | enfermera enfermero | infirmière infirmier
doctor | arzt ärztin ärzte | médico médica doctor doctora | médecin docteur
dentist | zahnarzt zahnärztin | dentista | dentiste
vet | tierarzt tierärztin | veterinario veterinaria | vétérinaire
lawyer | anwalt anwältin rechtsanwalt | abogado abogada | avocat avocate
cook | koch köchin kochen gekocht | cocinero cocinera cocinar | cuisinier cuisinière cuisiner
baker | bäcker bäckerin bäckerei | panadero panadera panadería | boulanger boulangère boulangerie
hairdresser | friseur friseurin | peluquero peluquera peluquería | coiffeur coiffeuse
gardener | gärtner gärtnerin | jardinero jardinera | jardinier jardinière
driver | fahrer fahrerin | conductor conductora chófer | conducteur conductrice chauffeur
pilot | pilot pilotin | piloto | pilote
engineer | ingenieur ingenieurin | ingeniero ingeniera | ingénieur ingénieure
architect | architekt architektin | arquitecto arquitecta | architecte
accountant | buchhalter buchhalterin steuerberater steuerberaterin | contable contador contadora | comptable
tax | steuer steuern steuererklärung | impuesto | impôt taxe
secretary | sekretär sekretärin | secretario secretaria | secrétaire
journalist | journalist journalistin | periodista | journaliste
actor | schauspieler schauspielerin | actor actriz | acteur actrice comédien
singer | sänger sängerin | cantante | chanteur chanteuse
musician | musiker musikerin | músico | musicien musicienne
farmer | bauer bäuerin landwirt | agricultor granjero | agriculteur fermier
policeman | polizist polizistin polizei | policía | policier police
scientist | wissenschaftler wissenschaftlerin | científico científica | scientifique
programmer | programmierer programmiererin | programador programadora | programmeur programmeuse
developer | entwickler entwicklerin | desarrollador desarrolladora | développeur développeuse
salesman | verkäufer verkäuferin | vendedor vendedora | vendeur vendeuse
customer | kunde kundin kunden | cliente clienta | client cliente
supplier | lieferant | proveedor | fournisseur
order | bestellen bestellt bestellung auftrag aufträge | pedir pedido encargar encargo | commander commande
deliver | liefern geliefert lieferung | entregar entrega | livrer livraison
package | paket päckchen | paquete | colis paquet
invoice | rechnung | factura | facture
bill | rechnung | cuenta factura | facture addition
receipt | quittung beleg kassenbon | recibo | reçu ticket
price | preis | precio | prix
cost | kosten kostet gekostet | costar cuesta costo coste | coûter coût
pay | zahlen bezahlen gezahlt bezahlt | pagar pago | payer paie paiement
buy | kaufen gekauft einkaufen eingekauft | comprar compra | acheter achat
sales | verkauf vertrieb | ventas | ventes vente
sell | verkaufen verkauft verkauf | vender venta | vendre vendu vente
sold | verkauft | vendido vendí vendió | vendu
lend | leihen geliehen verleihen verliehen lieh | prestar | prêter
borrow | leihen ausleihen ausgeliehen geliehen | prestado | emprunter
owe | schulden schuldet | deber debe | devoir doit
give | geben gegeben gab schenken geschenkt | dar dio regalar | donner offrir offert
get | bekommen bekam erhalten erhielt | recibir obtener | recevoir reçu obtenir
receive | bekommen bekam erhalten erhielt empfangen | recibir | recevoir reçu
gift | geschenk | regalo | cadeau cadeaux
money | geld | dinero | argent
bank | bank | banco | banque
account | konto | cuenta | compte
loan | kredit darlehen | préstamo crédito | prêt emprunt crédit
save | sparen gespart | ahorrar ahorro | économiser épargner
budget | budget haushalt | presupuesto | budget
cheap | billig günstig | barato | bon-marché
expensive | teuer | caro cara | cher chère
car | auto wagen pkw | coche auto carro | voiture
truck | lastwagen lkw | camión camiones | camion
bicycle | fahrrad rad fahrräder | bicicleta bici | vélo bicyclette
motorcycle | motorrad motorräder | moto motocicleta | moto
bus | bus | autobús | autobus bus
train | zug züge bahn | tren trenes | train
station | bahnhof | estación | gare
plane | flugzeug | avión aviones | avion
flight | flug flüge | vuelo | vol
fly | fliegen geflogen | volar vuela | voler
airport | flughafen | aeropuerto | aéroport
gate | flugsteig tor | puerta | porte
ticket | ticket fahrkarte karte | billete boleto entrada | billet ticket
ship | schiff | barco buque | bateau navire
boat | boot | barca bote | bateau barque
ferry | fähre | ferry transbordador | ferry
drive | fahren gefahren fährt fuhr | conducir conduce manejar | conduire conduit
leave | abfahren losfahren verlassen abfahrt abflug | salir sale partir salida | partir part quitter départ
arrive | ankommen ankunft angekommen | llegar llegada | arriver arrivée
travel | reisen gereist | viajar | voyager
trip | reise ausflug | viaje excursión | voyage excursion
holiday | urlaub ferien feiertag | vacaciones festivo | vacances congé
visit | besuchen besucht besuch | visitar visita | visiter rendre
hotel | hotel | hotel | hôtel
luggage | gepäck koffer | equipaje maleta | bagage valise
passport | reisepass pass | pasaporte | passeport
licence | führerschein lizenz | licencia carnet | permis licence
tyre | reifen | neumático rueda | pneu
brake | bremse bremsen | freno | frein
engine | motor | motor | moteur
garage | werkstatt | taller | garage
workshop | werkstatt | taller | atelier
mechanic | mechaniker mechanikerin | mecánico | mécanicien
repair | reparieren repariert reparatur | reparar reparación arreglar | réparer réparation
break | kaputt zerbrechen zerbrochen brechen gebrochen defekt | romper rompió roto averiar | casser cassé
broke | kaputt zerbrach brach defekt | rompió rompí averió | cassé
broken | kaputt gebrochen defekt | roto rota | cassé cassée
fix | reparieren beheben behoben | arreglar reparar | réparer corriger
replace | ersetzen ersetzt austauschen ausgetauscht | reemplazar sustituir cambiar | remplacer
clean | putzen geputzt reinigen gereinigt sauber | limpiar limpio | nettoyer propre
accident | unfall unfälle | accidente | accident
park | parken geparkt | aparcar estacionar | garer stationner
dog | hund hündin | perro perra | chien chienne
cat | katze kater | gato gata | chat chatte
horse | pferd | caballo | cheval chevaux
bird | vogel vögel | pájaro ave | oiseau oiseaux
fish | fisch | pez pescado peces | poisson
rabbit | kaninchen hase | conejo | lapin
hamster | hamster | hámster | hamster
cow | kuh kühe | vaca | vache
chicken | huhn hühner hähnchen | pollo gallina | poulet poule
pig | schwein | cerdo | cochon porc
mouse | maus mäuse | ratón ratones | souris
animal | tier | animal | animal animaux
pet | haustier | mascota | compagnie
shelter | tierheim | refugio albergue | refuge
adopt | adoptieren adoptiert | adoptar | adopter
plant | pflanze pflanzen gepflanzt | planta plantar | plante planter
tree | baum bäume | árbol árboles | arbre
flower | blume | flor flores | fleur
pot | topf töpfe | maceta olla | pot
flowerpot | blumentopf blumentöpfe | maceta | pot
water | wasser | agua | eau
food | essen lebensmittel futter | comida | nourriture
eat | essen isst gegessen aß | comer | manger
drink | trinken getrunken trinkt getränk | beber bebida | boire boit bu boisson
breakfast | frühstück | desayuno | petit-déjeuner
lunch | mittagessen | almuerzo | déjeuner
dinner | abendessen | cena | dîner souper
bread | brot | pan | pain
cheese | käse | queso | fromage
milk | milch | leche | lait
egg | ei eier | huevo | œuf
meat | fleisch | carne | viande
vegetable | gemüse | verdura | légume
fruit | obst frucht früchte | fruta | fruit
apple | apfel äpfel | manzana | pomme
potato | kartoffel | patata papa | pomme-de-terre patate
tomato | tomate | tomate | tomate
onion | zwiebel | cebolla | oignon
garlic | knoblauch | ajo | ail
salt | salz | sal | sel
sugar | zucker | azúcar | sucre
butter | butter | mantequilla | beurre
flour | mehl | harina | farine
oil | öl | aceite | huile
rice | reis | arroz | riz
soup | suppe | sopa | soupe
cake | kuchen torte | pastel tarta | gâteau gâteaux
coffee | kaffee | café | café
tea | tee | té | thé
wine | wein | vino | vin
beer | bier | cerveza | bière
recipe | rezept | receta | recette
bake | backen gebacken | hornear | cuire cuit
restaurant | restaurant gaststätte | restaurante | restaurant
menu | speisekarte | menú | menu
reservation | reservierung | reserva | réservation
book | buchen gebucht reservieren reserviert | reservar | réserver
nut | nuss nüsse | nuez nueces | noix
peanut | erdnuss erdnüsse | cacahuete maní | cacahuète arachide
allergic | allergisch allergie | alérgico alérgica alergia | allergique allergie
allergy | allergie | alergia | allergie
ill | krank | enfermo enferma | malade
illness | krankheit | enfermedad | maladie
hospital | krankenhaus klinik spital | hospital clínica | hôpital clinique
pharmacy | apotheke | farmacia | pharmacie
medicine | medikament medizin arznei tabletten | medicamento medicina | médicament
prescribe | verschreiben verschrieben verschrieb verordnet | recetar prescribir prescrito | prescrire prescrit
appointment | termin | cita | rendez-vous
operation | operation | operación | opération
pain | schmerz schmerzen | dolor dolores | douleur
hurt | weh schmerzen verletzt | doler duele | mal blessé
back | rücken | espalda | dos
head | kopf | cabeza | tête
eye | auge augen | ojo | œil yeux
hand | hand hände | mano | main
foot | fuß füße | pie pies | pied
leg | bein | pierna | jambe
arm | arm | brazo | bras
knee | knie | rodilla | genou genoux
tooth | zahn zähne | diente muela | dent
heart | herz | corazón | cœur
blood | blut | sangre | sang
fever | fieber | fiebre | fièvre
cough | husten | tos | toux
cold | kalt erkältung | frío resfriado | froid rhume
glasses | brille | gafas lentes | lunettes
vaccination | impfung | vacuna | vaccin
diet | diät ernährung | dieta | régime
vegetarian | vegetarisch vegetarier vegetarierin | vegetariano vegetariana | végétarien végétarienne
meeting | besprechung sitzung treffen | reunión reuniones | réunion
meet | treffen getroffen trifft kennengelernt | encontrar conocer reunir | rencontrer
date | datum | fecha | date
calendar | kalender | calendario | calendrier
deadline | frist abgabetermin | plazo | délai échéance
party | party feier fest | fiesta | fête
celebrate | feiern gefeiert | celebrar | fêter célébrer
invite | einladen eingeladen einladung | invitar invitación | inviter invitation
concert | konzert | concierto | concert
cinema | kino | cine | cinéma
film | film | película | film
music | musik | música | musique
song | lied | canción canciones | chanson
instrument | instrument | instrumento | instrument
piano | klavier | piano | piano
guitar | gitarre | guitarra | guitare
violin | geige violine | violín | violon
play | spielen gespielt spielt | jugar juega tocar toca | jouer
sing | singen gesungen | cantar | chanter
dance | tanzen getanzt tanz | bailar baile | danser danse
choir | chor | coro | chœur chorale
band | band kapelle | banda grupo | groupe orchestre
team | mannschaft team | equipo | équipe
club | verein klub | club | club association
coach | trainer trainerin | entrenador entrenadora | entraîneur entraîneuse
football | fußball | fútbol | football foot
game | spiel | juego partido | jeu jeux match
win | gewinnen gewonnen gewann | ganar | gagner
lose | verlieren verloren verlor | perder perdió | perdre perdu
run | laufen gelaufen läuft | correr corre | courir court
swim | schwimmen geschwommen | nadar | nager
sport | sport | deporte | sport
hobby | hobby | afición pasatiempo | loisir passe-temps
like | mögen mag gern | gustar gusta | aimer
love | lieben liebe | amar amor | aimer amour
favourite | lieblings lieblingsfarbe lieblingsessen | favorito favorita preferido preferida | préféré préférée
prefer | bevorzugen lieber | preferir prefiere | préférer
hate | hassen | odiar | détester
want | wollen will möchte | querer quiere | vouloir veut
need | brauchen braucht benötigen | necesitar | besoin
plan | planen geplant plan pläne | planear plan planes | prévoir prévu plan
decide | entscheiden entschieden beschließen beschlossen | decidir decidido | décider
decision | entscheidung beschluss | decisión decisiones | décision
agree | zustimmen vereinbaren vereinbart | acordar acuerdo | accord convenir
promise | versprechen versprochen | prometer promesa | promettre promis
call | anrufen angerufen rufen | llamar llamada | appeler appel
send | schicken geschickt senden gesendet | enviar mandar | envoyer
bring | bringen gebracht brachte mitbringen mitgebracht | traer trajo llevar | apporter amener
take | nehmen genommen nahm | tomar llevar | prendre pris
find | finden gefunden fand | encontrar encuentra | trouver
search | suchen gesucht | buscar | chercher
hang | hängen hängt gehängt | colgar cuelga | accrocher pendre suspendre
lie | liegen liegt gelegen lag | yacer yace | gésir
stand | stehen steht gestanden stand | parado | debout
keep | aufbewahren aufbewahrt behalten | guardar | garder ranger conserver
put | legen gelegt stellen gestellt | poner puso colocar | mettre mis poser
hide | verstecken versteckt | esconder | cacher
open | öffnen geöffnet offen | abrir abierto | ouvrir ouvert ouvre
close | schließen geschlossen | cerrar cierra cerrado | fermer
start | beginnen begonnen begann anfangen angefangen fängt starten | empezar empieza comenzar comienza inicio | commencer début
begin | beginnen begonnen beginnt anfangen | empezar comenzar | commencer
end | enden ende endet | terminar acabar fin | finir terminer fin
finish | fertig beenden beendet | terminar acabar | finir terminer
happen | passieren passiert geschehen | pasar ocurrir suceder | arriver passer
change | ändern geändert änderung wechseln gewechselt | cambiar cambio | changer changement
build | bauen gebaut baute | construir construyó | construire construit
make | machen gemacht herstellen hergestellt | hacer hizo hecho | faire fait
paint | streichen gestrichen malen gemalt | pintar | peindre peint
invent | erfinden erfunden erfand | inventar | inventer
found | gründen gegründet gründete | fundar | fonder
discover | entdecken entdeckt | descubrir | découvrir découvert
win | gewinnen gewonnen gewann | ganar | gagner
know | wissen kennen kennt weiß | saber conocer sabe | savoir connaître sait
think | denken gedacht glauben | pensar piensa creer | penser croire
remember | erinnern | recordar recuerda | rappeler souvenir
forget | vergessen | olvidar | oublier
help | helfen geholfen hilft hilfe | ayudar ayuda | aider aide
care | betreuen kümmern | cuidar | garder occuper
wait | warten gewartet | esperar | attendre
stay | bleiben geblieben übernachten | quedar alojar | rester loger
sleep | schlafen geschlafen schläft | dormir duerme | dormir dort
speak | sprechen spricht gesprochen | hablar | parler
say | sagen gesagt | decir dijo dice | dire dit
ask | fragen gefragt | preguntar pedir | demander
answer | antworten antwort | responder respuesta | répondre réponse
explain | erklären erklärt | explicar | expliquer
show | zeigen gezeigt | mostrar enseñar | montrer
use | benutzen verwenden benutzt verwendet nutzen | usar utilizar | utiliser
wear | tragen trägt getragen | llevar | porter
colour | farbe | color colores | couleur
red | rot rote roten roter rotes | rojo roja | rouge
blue | blau blaue blauen blauer blaues | azul azules | bleu bleue
green | grün grüne grünen grüner grünes | verde | vert verte
yellow | gelb gelbe gelben | amarillo amarilla | jaune
black | schwarz schwarze schwarzen schwarzer | negro negra | noir noire
white | weiß weiße weißen weißer | blanco blanca | blanc blanche
grey | grau graue grauen grauer | gris | gris grise
brown | braun braune braunen | marrón | marron brun brune
big | groß große großen großer | grande gran | grand grande
small | klein kleine kleinen kleiner | pequeño pequeña | petit petite
long | lang lange langen | largo larga | long longue
high | hoch hohe hohen höhe | alto alta altura | haut haute hauteur
tall | groß | alto alta | grand grande
new | neu neue neuen neuer neues | nuevo nueva | nouveau nouvelle nouveaux
used | gebraucht gebrauchte gebrauchtes | usado usada | occasion
good | gut gute guten | bueno buena | bon bonne
bad | schlecht schlechte | malo mala | mauvais mauvaise
fast | schnell | rápido rápida | rapide vite
late | spät verspätet | tarde | tard retard
early | früh | temprano | tôt
day | tag tage | día | jour
week | woche | semana | semaine
month | monat | mes meses | mois
year | jahr | año | an année
hour | stunde | hora | heure
minute | minute | minuto | minute
time | zeit uhrzeit | tiempo hora | temps heure
morning | morgen vormittag | mañana | matin
evening | abend | tarde noche | soir
night | nacht nächte | noche | nuit
weekend | wochenende | fin-de-semana | week-end
today | heute | hoy | aujourd'hui
yesterday | gestern | ayer | hier
tomorrow | morgen | mañana | demain
spring | frühling frühjahr | primavera | printemps
summer | sommer | verano | été
autumn | herbst | otoño | automne
winter | winter | invierno | hiver
christmas | weihnachten | navidad | noël
easter | ostern | pascua | pâques
weather | wetter | tiempo clima | temps météo
rain | regen regnen | lluvia llover | pluie pleuvoir
snow | schnee schneien | nieve nevar | neige neiger
sea | meer see | mar | mer
lake | see seen | lago | lac
river | fluss flüsse | río | fleuve rivière
mountain | berg | montaña | montagne
forest | wald wälder | bosque | forêt
beach | strand strände | playa | plage
island | insel | isla | île
bridge | brücke | puente | pont
church | kirche | iglesia | église
museum | museum museen | museo | musée
tower | turm türme | torre | tour
castle | schloss burg | castillo | château
shop | laden läden geschäft | tienda | magasin boutique
market | markt märkte | mercado | marché
supermarket | supermarkt | supermercado | supermarché
factory | fabrik werk | fábrica | usine
warehouse | lager lagerhaus | almacén almacenes depósito | entrepôt
clothes | kleidung kleider | ropa | vêtement
shirt | hemd | camisa | chemise
trousers | hose | pantalón pantalones | pantalon
dress | kleid | vestido | robe
coat | mantel jacke | abrigo chaqueta | manteau veste
shoe | schuh | zapato | chaussure
hat | hut hüte mütze | sombrero gorro | chapeau bonnet
bag | tasche | bolso bolsa | sac
ring | ring | anillo | bague anneau
watch | uhr armbanduhr | reloj relojes | montre
umbrella | regenschirm schirm | paraguas | parapluie
box | kiste schachtel karton | caja | boîte carton
tool | werkzeug | herramienta | outil
ladder | leiter | escalera | échelle
drill | bohrmaschine bohrer | taladro | perceuse
spare | ersatz ersatzschlüssel reserve | repuesto | rechange secours
project | projekt | proyecto | projet
task | aufgabe | tarea | tâche
report | bericht | informe | rapport
document | dokument unterlage | documento | document
file | datei akte | archivo fichero | fichier dossier
server | server | servidor | serveur
database | datenbank | base | base
version | version | versión versiones | version
release | veröffentlichung freigabe | lanzamiento | sortie
error | fehler | error fallo | erreur
bug | fehler | error fallo | bogue
outage | ausfall ausfälle störung | caída interrupción | panne coupure
cause | ursache grund verursachen | causa causar | cause causer
reason | grund gründe | razón razones motivo | raison motif
problem | problem | problema | problème
solution | lösung | solución soluciones | solution
backup | sicherung backup | copia respaldo | sauvegarde
responsible | verantwortlich zuständig | responsable encargado encargada | responsable chargé chargée
department | abteilung | departamento | service département
branch | filiale niederlassung | sucursal | succursale filiale
law | gesetz recht | ley leyes | loi droit
court | gericht | tribunal juzgado | tribunal cour
complaint | beschwerde reklamation | queja reclamación | plainte réclamation
refund | erstattung rückzahlung | reembolso | remboursement
discount | rabatt nachlass | descuento | remise réduction rabais
guarantee | garantie | garantía | garantie
subscription | abo abonnement | suscripción | abonnement
cancel | kündigen absagen abgesagt stornieren storniert | cancelar anular | annuler résilier
sign | unterschreiben unterschrieben unterzeichnet | firmar firma | signer signature
vote | abstimmen wählen gewählt | votar voto elegir | voter élire élu
elect | wählen gewählt | elegir elegido elegida | élire élu élue
president | präsident präsidentin vorsitzender vorsitzende | presidente presidenta | président présidente
mayor | bürgermeister bürgermeisterin | alcalde alcaldesa | maire
author | autor autorin verfasser | autor autora | auteur autrice
artist | künstler künstlerin | artista | artiste
picture | bild foto | cuadro foto imagen | tableau photo image
photo | foto | foto fotografía | photo
language | sprache | idioma lengua | langue
word | wort wörter | palabra | mot
story | geschichte | historia cuento | histoire
size | größe | tamaño talla | taille
weight | gewicht | peso | poids
weigh | wiegen wiegt gewogen | pesar pesa | peser pèse
length | länge | longitud | longueur
width | breite | ancho anchura | largeur
temperature | temperatur | temperatura | température
speed | geschwindigkeit | velocidad | vitesse
amount | betrag menge | cantidad importe | montant quantité
part | teil | parte pieza | partie pièce
member | mitglied | miembro | membre
group | gruppe | grupo | groupe
seat | sitz sitzplatz platz | asiento | siège place
line | linie leitung | línea | ligne
cable | kabel | cable | câble
light | licht | luz luces | lumière
fire | feuer brand | fuego incendio | feu incendie
glass | glas gläser | vidrio vaso cristal | verre
wood | holz | madera | bois
paper | papier | papel | papier
gold | gold | oro | or
silver | silber | plata | argent
stone | stein | piedra | pierre
safe | tresor safe sicher | caja-fuerte seguro | coffre sûr
thief | dieb diebin | ladrón ladrones | voleur voleuse
steal | stehlen gestohlen | robar robo | voler vol
bell | glocke klingel | campana timbre | cloche sonnette
january | januar | enero | janvier
february | februar | febrero | février
march | märz | marzo | mars
april | april | abril | avril
may | mai | mayo | mai
june | juni | junio | juin
july | juli | julio | juillet
august | august | agosto | août
september | september | septiembre | septembre
october | oktober | octubre | octobre
november | november | noviembre | novembre
december | dezember | diciembre | décembre
monday | montag | lunes | lundi
tuesday | dienstag | martes | mardi
wednesday | mittwoch | miércoles | mercredi
thursday | donnerstag | jueves | jeudi
friday | freitag | viernes | vendredi
saturday | samstag sonnabend | sábado | samedi
sunday | sonntag | domingo | dimanche
service | dienst | servicio | service
network | netz netzwerk | red | réseau
prepare | vorbereiten vorbereitet bereitet | preparar prepara | préparer
raise | erhöhen erhöht erhöhung | subir aumentar subida | augmenter augmentation
reduce | senken gesenkt reduzieren | reducir bajar | réduire baisser
increase | steigen gestiegen zunahme | aumentar aumento | augmenter hausse
purchase | einkauf | compra | achat
legal | rechtlich rechts | legal jurídico | juridique
hall | halle | sala nave | salle hall
valve | ventil | válvula | soupape vanne
pump | pumpe | bomba | pompe
pipe | rohr | tubo tubería | tuyau
screw | schraube | tornillo | vis
expire | ablaufen abgelaufen läuft | caducar vencer | expirer
certificate | zertifikat bescheinigung | certificado | certificat
licence | lizenz | licencia | licence
approve | genehmigen genehmigt | aprobar aprobación | approuver
reject | ablehnen abgelehnt | rechazar | refuser rejeter
accept | annehmen angenommen akzeptieren | aceptar | accepter
offer | angebot anbieten angeboten | oferta ofrecer | offre proposer
quote | kostenvoranschlag | presupuesto | devis
tender | ausschreibung | licitación | appel
shift | schicht | turno | équipe
overtime | überstunden | extra | supplémentaires
training | schulung fortbildung | formación | formation
interview | vorstellungsgespräch | entrevista | entretien
candidate | bewerber bewerberin kandidat | candidato candidata | candidat candidate
apply | bewerben beworben bewerbung | solicitar solicitud | postuler candidature
intern | praktikant praktikantin | becario becaria | stagiaire
apprentice | auszubildender lehrling azubi | aprendiz | apprenti apprentie
investor | investor anleger | inversor inversora | investisseur
shareholder | aktionär gesellschafter | accionista | actionnaire
profit | gewinn | beneficio ganancia | bénéfice
loss | verlust | pérdida | perte
revenue | umsatz | ingresos facturación | chiffre
debt | schuld schulden | deuda | dette
interest | zinsen zinssatz | interés intereses | intérêt
percent | prozent | ciento | pourcent
share | anteil | acción parte | part action
goal | ziel | meta objetivo | objectif but
result | ergebnis | resultado | résultat
test | test | prueba | essai test
measure | messen gemessen maßnahme | medir medida | mesurer mesure
install | installieren installiert einbauen eingebaut | instalar | installer
update | aktualisieren aktualisiert | actualizar actualización | actualiser
delete | löschen gelöscht | borrar eliminar | supprimer
store | speichern gespeichert | guardar almacenar | stocker
copy | kopie kopieren | copia copiar | copie
print | drucken gedruckt | imprimir | imprimer
connect | verbinden verbunden anschließen | conectar | connecter
attack | angriff | ataque | attaque
damage | schaden schäden beschädigt | daño daños | dégât dommage endommager
leak | leck undicht | fuga | fuite
delay | verzögerung verspätung | retraso | retard
traffic | verkehr | tráfico | circulation
map | karte | mapa | carte plan
north | norden | norte | nord
south | süden | sur | sud
east | osten | este | est
west | westen | oeste | ouest
capital | hauptstadt | capital | capitale
king | könig | rey | roi
queen | königin | reina | reine
war | krieg | guerra | guerre
peace | frieden | paz | paix
government | regierung | gobierno | gouvernement
party | partei | partido | parti
citizen | bürger bürgerin | ciudadano ciudadana | citoyen citoyenne
soldier | soldat | soldado | soldat
priest | priester pfarrer | sacerdote cura | prêtre
science | wissenschaft | ciencia | science
history | geschichte | historia | histoire
chapter | kapitel | capítulo | chapitre
page | seite | página | page
novel | roman | novela | roman
poem | gedicht | poema | poème
theatre | theater | teatro | théâtre
stage | bühne | escenario | scène
exhibition | ausstellung | exposición | exposition
tournament | turnier | torneo | tournoi
match | spiel | partido | match
season | saison jahreszeit | temporada | saison
ski | ski skifahren | esquí esquiar | ski skier
hike | wandern gewandert wanderung | caminar senderismo excursión | randonnée marcher
climb | klettern geklettert | escalar subir | grimper escalade
tent | zelt | tienda carpa | tente
camping | camping zelten | camping | camping
suitcase | koffer | maleta | valise
blanket | decke | manta | couverture
pillow | kissen | almohada | oreiller
towel | handtuch | toalla | serviette
soap | seife | jabón | savon
toothbrush | zahnbürste | cepillo | brosse
haircut | haarschnitt | corte | coupe
hair | haar haare | pelo cabello | cheveu cheveux
beard | bart | barba | barbe
face | gesicht | cara rostro | visage
nose | nase | nariz | nez
ear | ohr | oreja oído | oreille
mouth | mund | boca | bouche
shoulder | schulter | hombro | épaule
finger | finger | dedo | doigt
stomach | magen bauch | estómago barriga | estomac ventre
skin | haut | piel | peau
bone | knochen | hueso | os
nut | mutter | tuerca | écrou
spoon | löffel | cuchara | cuillère
fork | gabel | tenedor | fourchette
knife | messer | cuchillo | couteau
plate | teller | plato | assiette
cup | tasse | taza copa | tasse
bottle | flasche | botella | bouteille
bowl | schüssel | cuenco tazón | bol
pan | pfanne | sartén | poêle
honey | honig | miel | miel
chocolate | schokolade | chocolate | chocolat
ice cream | eis | helado | glace
salad | salat | ensalada | salade
lemon | zitrone | limón | citron
orange | orange | naranja | orange
strawberry | erdbeere | fresa | fraise
cherry | kirsche | cereza | cerise
pepper | pfeffer paprika | pimienta pimiento | poivre poivron
mushroom | pilz | seta champiñón | champignon
bean | bohne | judía frijol | haricot
carrot | karotte möhre | zanahoria | carotte
`;

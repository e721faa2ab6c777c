/** An ontology as Protégé writes it: classes above one another, individuals, an object property. */
export const VEHICLES = `<?xml version="1.0"?>
<!DOCTYPE rdf:RDF [
  <!ENTITY v "http://example.org/vehicles#">
]>
<rdf:RDF xmlns="http://example.org/vehicles#" xml:base="http://example.org/vehicles"
    xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#"
    xmlns:owl="http://www.w3.org/2002/07/owl#">
  <owl:Ontology rdf:about="http://example.org/vehicles"/>
  <owl:Class rdf:about="#Vehicle"/>
  <owl:Class rdf:about="&v;Car">
    <rdfs:subClassOf rdf:resource="#Vehicle"/>
    <rdfs:subClassOf><owl:Restriction><owl:onProperty rdf:resource="#hasManufacturer"/></owl:Restriction></rdfs:subClassOf>
  </owl:Class>
  <owl:Class rdf:about="#Manufacturer"/>
  <owl:ObjectProperty rdf:about="#hasManufacturer"/>
  <owl:NamedIndividual rdf:about="#Volkswagen_Golf">
    <rdf:type rdf:resource="#Car"/>
    <hasManufacturer rdf:resource="#Volkswagen"/>
  </owl:NamedIndividual>
  <Manufacturer rdf:about="#Volkswagen"/>
  <Manufacturer rdf:about="#Toyota"/>
</rdf:RDF>`;

export const VEHICLES_URI = 'http://example.org/vehicles#';

/** Why an artifact is not believed, as a sentence for a person. */
export class ArtifactRefusal extends Error {}

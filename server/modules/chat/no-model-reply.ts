/** What the assistant says while it has no language model: what works now, and how to give it one. */
export const NO_MODEL_REPLY = `I have no language model yet, so I cannot talk with you properly.

What works already: I keep our conversations, and you can pair your phones and TVs with this home.

To give me a voice, put a language model as a \`.gguf\` file into the \`models\` folder of my data, or enter the address of a model server you run (such as Ollama) under Settings, Model. I notice by myself when it is there.`

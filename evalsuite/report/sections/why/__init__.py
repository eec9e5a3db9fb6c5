"""Why a framework is where it is."""

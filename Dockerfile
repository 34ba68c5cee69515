# Plain instructions only, so that the builder of Docker 20 takes them as well as BuildKit does.
FROM eclipse-temurin:25.0.3_9-jdk-noble AS build
# Not as root: the build starts a Postgres to read the schema from, and Postgres refuses to be root.
RUN useradd --create-home --uid 10001 build && mkdir /source && chown build /source
USER build
WORKDIR /source
# The libraries first: a layer that is built again only when one of them changes.
COPY --chown=build mvnw pom.xml ./
COPY --chown=build .mvn .mvn
COPY --chown=build build build
RUN ./mvnw -q -B dependency:resolve dependency:resolve-plugins
COPY --chown=build . .
RUN ./mvnw -q -B -DskipTests -Dmaven.test.skip package \
    && ops/image/own-binaries target/lib && javac -d target/train build/Train.java

FROM eclipse-temurin:25.0.3_9-jre-noble AS program
RUN useradd --create-home --uid 10001 --home-dir /var/lib/coatcheck coatcheck
COPY --from=build /source/target/lib /opt/coatcheck/lib
COPY --from=build /source/target/coatcheck.jar /opt/coatcheck/
COPY build/jdk.sh build/locale.sh /opt/coatcheck/lib/
COPY ops/jvm/options /opt/coatcheck/jvm.options
COPY ops/release/coatcheck /opt/coatcheck/
COPY ops/image/healthy /usr/local/bin/
RUN ln -s /opt/coatcheck/coatcheck /usr/local/bin/coatcheck
# By its number, which Kubernetes can see to be no root.
USER 10001
WORKDIR /var/lib/coatcheck

# A gateway and a verb run once, so that every start of the image takes half the time.
FROM program AS trained
COPY ops/image/train /usr/local/bin/
COPY --from=build /source/target/train /tmp/train
RUN mkdir /tmp/trained && train /tmp/trained

FROM program
COPY --from=trained /tmp/trained /opt/coatcheck
# The data of the embedded Postgres, which must outlive the container of a trial without a database.
VOLUME /var/lib/coatcheck
ENV COATCHECK_HOST=0.0.0.0 COATCHECK_PORT=8080
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 CMD ["healthy"]
ENTRYPOINT ["coatcheck"]
CMD ["serve"]
